import type { CompletionChannel, CompletionQueue, Context } from '@verbs/core';
import { adoptCq, check, checked, handleOf, validate } from '@verbs/core/provider';
import { CqType } from './enums.js';
import { libraries } from './libraries.js';
import { native } from './native.js';

const CQE_BYTES = 16;

/** What {@link createCq} is told. */
export interface HblCqOptions {
  /** The C field has 8 bits: 1 to 255. */
  portNum: number;
  /** {@link CqType}, default QP. */
  cqType?: number;
  /** Needed for `cq.wait()` and `for await (… of cq)`. */
  channel?: CompletionChannel;
  /** Which interrupt of the device serves the queue, default 0. */
  compVector?: number;
}

/** `struct hbldv_query_cq_attr`, without its pointers: `readCq` reads what they point to. */
export interface QueryCqAttr {
  /** The hardware's number. */
  cqNum: number;
  /** Bytes of the buffer; 0 for a queue of `ctx.createCq()`. */
  cqSize: number;
  /** Where the queue's register is in its page, bytes. */
  regsOffset: number;
  /** See {@link CqType}. */
  cqType: number;
  /** Whether the buffer and the producer index are mapped. */
  mapped: boolean;
}

/** An entry of a completion queue's buffer, in the software model's layout (native/include/hbl_doorbell.h). */
export interface Cqe {
  /** The hardware's number of the queue pair. */
  qpNum: number;
  /** Of the work queue entry; 0 for requests of ordinary verbs. */
  tag: number;
  /** Bytes written or received. */
  byteLen: number;
  /** core's `WcStatus` */
  status: number;
  /** core's `WcOpcode` */
  opcode: number;
}

/**
 * `hbldv_create_cq`: a completion queue whose buffer is mapped. Its size is rounded up to a power of two, at least 4.
 *
 * @param cqe 1 to 8192
 * @throws VerbsError EINVAL, ENODEV, EBUSY (14 a port, one of type CC), EPERM and EOPNOTSUPP (type CC before setPortEx,
 *   or without ADVANCED)
 */
export function createCq(ctx: Context, cqe: number, options: HblCqOptions): CompletionQueue {
  const syscall = 'hbldv_create_cq';
  const { vendor: hbl, handle } = libraries.forContext(ctx, syscall);
  validate.integer(cqe, 'cqe', 1, 0x7fffffff);
  const given = validate.object(options, 'options', ['portNum', 'cqType', 'channel', 'compVector']);
  const attr = {
    portNum: validate.integer(given['portNum'], 'options.portNum', 0, 255),
    cqType: validate.optional(given['cqType'], 'options.cqType', 0xffffffff, CqType.QP),
  };
  const vector = validate.optional(given['compVector'], 'options.compVector', 0x7fffffff, 0);
  const { channel } = options;
  const via = channel === undefined ? undefined : handleOf(channel, 'CompletionChannel', 'options.channel', syscall);
  const result = native.createCq(hbl, handle, cqe, via, vector, attr);
  const detail = `of ${cqe} entries on port ${attr.portNum}`;
  const made = checked(result, syscall, { detail });
  return adoptCq(ctx, channel, made);
}

/**
 * `hbldv_query_cq`: the hardware's number of a queue and the size of its mapped buffer.
 *
 * @throws TypeError for what is no CompletionQueue; VerbsError EOPNOTSUPP for one of another vendor's device
 */
export function queryCq(cq: CompletionQueue): QueryCqAttr {
  const syscall = 'hbldv_query_cq';
  const handle = handleOf(cq, 'CompletionQueue', 'cq', syscall);
  return checked(native.queryCq(libraries.for(cq.context.device.library, syscall).vendor, handle), syscall);
}

/**
 * The mapped buffer as it is now: the producer index, which counts all completions there ever were, and the entries that
 * it still holds, oldest first. Reading takes nothing out.
 *
 * @throws VerbsError EOPNOTSUPP if nothing is mapped
 */
export function readCq(cq: CompletionQueue): {
  /** Completions that there ever were, modulo 2^32. */
  producerIndex: number;
  /** Those that the buffer still holds, oldest first. */
  entries: Cqe[];
} {
  const syscall = 'hbldv_query_cq';
  const handle = handleOf(cq, 'CompletionQueue', 'cq', syscall);
  const bytes = new Uint8Array(queryCq(cq).cqSize);
  const result = native.readCq(libraries.for(cq.context.device.library, syscall).vendor, handle, bytes);
  check(Math.min(result, 0), syscall);
  const capacity = bytes.byteLength / CQE_BYTES;
  const held = Math.min(result, capacity);
  const view = new DataView(bytes.buffer);
  return {
    producerIndex: result,
    entries: Array.from({ length: held }, (_, i) => decode(view, ((result - held + i) % capacity) * CQE_BYTES)),
  };
}

function decode(view: DataView, at: number): Cqe {
  return {
    qpNum: view.getUint32(at, true),
    tag: view.getUint32(at + 4, true),
    byteLen: view.getUint32(at + 8, true),
    status: view.getUint8(at + 12),
    opcode: view.getUint8(at + 13),
  };
}
