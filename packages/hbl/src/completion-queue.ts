import type { CompletionChannel, CompletionQueue, Context, WcOpcode, WcStatus } from '@verbs/core';
import {
  handle,
  adoptCq,
  check,
  checked,
  errno,
  fields,
  handleOf,
  maybe,
  or,
  u31,
  u32,
  u8,
  validate,
} from '@verbs/core/provider';
import { portHint } from './device.js';
import { CqType } from './enums.js';
import { forContext } from './libraries.js';
import { native } from './native.js';

const CREATE = 'hbldv_create_cq';
const CQE_BYTES = 16;

/** The options of {@link createCq}. */
export interface HblCqOptions {
  /** The C field has 8 bits: 1 to 255. */
  portNum: number;
  /** {@link CqType}, default QP. */
  cqType?: CqType;
  /** The channel for events: `cq.wait()` and `for await (… of cq)` need one. */
  channel?: CompletionChannel;
  /** The device's interrupt that serves the queue, default 0. */
  compVector?: number;
}

/** `struct hbldv_query_cq_attr`, without its pointers: `readCq` reads the mapped memory. */
export interface QueryCqAttr {
  /** The hardware's number. */
  cqNum: number;
  /** Bytes of the buffer; 0 for a queue of `ctx.createCq()`. */
  cqSize: number;
  /** The offset of the queue's register in its page, bytes. */
  regsOffset: number;
  /** See {@link CqType}. */
  cqType: CqType;
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
  status: WcStatus;
  /** core's `WcOpcode` */
  opcode: WcOpcode;
}

const MAX_CQE = 8192;

const checkOptions = fields({
  portNum: u8(),
  cqType: or(u32(), CqType.QP),
  channel: maybe(handle('CompletionChannel', CREATE)),
  compVector: or(u31(), 0),
});

/**
 * `hbldv_create_cq`: a completion queue whose buffer is mapped. Its size is rounded up to a power of two, at least 4.
 *
 * @param cqe 1 to 8192
 * @throws VerbsError EINVAL, ENODEV, EBUSY (14 a port, one of type CC), EPERM and EOPNOTSUPP (type CC before setPortEx,
 *   or without ADVANCED)
 */
export function createCq(ctx: Context, cqe: number, options: HblCqOptions): CompletionQueue {
  const { vendor: hbl, handle: context } = forContext(ctx, CREATE);
  validate.integer(cqe, 'cqe', 1, 0x7fffffff);
  const { channel, compVector, ...attr } = checkOptions(options, 'options');
  const result = native.createCq(hbl, context, cqe, channel, compVector, attr);
  const detail = `of ${cqe} entries on port ${attr.portNum}`;
  const tooLong = result === -errno.EINVAL && cqe > MAX_CQE ? `cqe is ${cqe}; it is 1 to ${MAX_CQE}` : undefined;
  const made = checked(result, CREATE, { detail, hint: portHint(ctx, attr.portNum, result) ?? tooLong });
  return adoptCq(ctx, options.channel, made);
}

/**
 * `hbldv_query_cq`: the hardware's number of a queue and the size of its mapped buffer.
 *
 * @throws TypeError for a value that is no CompletionQueue; VerbsError EOPNOTSUPP for a queue of another vendor's device
 */
export function queryCq(cq: CompletionQueue): QueryCqAttr {
  const syscall = 'hbldv_query_cq';
  const queue = handleOf(cq, 'CompletionQueue', 'cq', syscall);
  return checked(native.queryCq(forContext(cq.context, syscall).vendor, queue), syscall);
}

/**
 * The mapped buffer of now: the producer index, which counts all completions since the creation, and the entries that the
 * buffer still holds, oldest first. Reading removes no entry.
 *
 * @throws VerbsError EOPNOTSUPP if the buffer is not mapped
 */
export function readCq(cq: CompletionQueue): {
  /** Completions since the creation, modulo 2^32. */
  producerIndex: number;
  /** The entries that the buffer still holds, oldest first. */
  entries: Cqe[];
} {
  const syscall = 'hbldv_query_cq';
  const queue = handleOf(cq, 'CompletionQueue', 'cq', syscall);
  const bytes = new Uint8Array(queryCq(cq).cqSize);
  const result = native.readCq(forContext(cq.context, syscall).vendor, queue, bytes);
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
