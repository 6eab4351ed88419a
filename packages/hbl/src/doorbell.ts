import { validate } from '@verbs/core/provider';

const U32 = 0xffffffff;

/** A doorbell taken apart. */
export interface Doorbell {
  /** How many entries of the send work queue were ever written, modulo 2^22: those before it are announced. */
  index: number;
  /** The hardware's number of the queue pair, of `queryQp`: 24 bits. */
  qpNum: number;
  /** The port, from 1. */
  portNum: number;
}

/**
 * The 64 bits of a doorbell, as the hardware reads them: bits 0 to 21 index, 32 to 55 queue pair, 56 to 63 port.
 *
 * @throws TypeError, RangeError for a field that is missing or out of its range
 * @example fifo.push(encodeDoorbell({ index: 1, qpNum: queryQp(qp).qpNum, portNum: 1 }));
 */
export function encodeDoorbell(doorbell: Doorbell): bigint {
  const given = validate.object(doorbell, 'doorbell', ['index', 'qpNum', 'portNum']);
  const index = validate.integer(given['index'], 'doorbell.index', 0, 0x3fffff);
  const qpNum = validate.integer(given['qpNum'], 'doorbell.qpNum', 0, 0xffffff);
  const portNum = validate.integer(given['portNum'], 'doorbell.portNum', 0, 0xff);
  return (BigInt(portNum) << 56n) | (BigInt(qpNum) << 32n) | BigInt(index);
}

/** The fields of a doorbell. Reserved bits are left out. */
export function decodeDoorbell(doorbell: bigint): Doorbell {
  validate.u64(doorbell, 'doorbell');
  return {
    index: Number(doorbell & 0x3fffffn),
    qpNum: Number((doorbell >> 32n) & 0xffffffn),
    portNum: Number(doorbell >> 56n),
  };
}

/** What an entry of a send work queue asks for. */
export const WqeOpcode = {
  /** Nothing; with SIGNALED it completes. */
  NOP: 0,
  /** An RDMA write. */
  WRITE: 1,
  /** An RDMA write with 32 bits for the receiver's completion. */
  WRITE_WITH_IMM: 2,
} as const;

/** Flags of such an entry, to be or-ed. */
export const WqeFlags = {
  /** It completes on the queue pair's send completion queue. */
  SIGNALED: 1,
  /** It wakes a receiver that asked for solicited completions only. */
  SOLICITED: 2,
} as const;

/** An entry of a send work queue. The keys are the queue pair's `localKey` and `remoteKey`. */
export interface Wqe {
  /** {@link WqeOpcode} */
  opcode: number;
  /** {@link WqeFlags}, or-ed; default 0. */
  flags?: number;
  /** Bytes; of each block with `strides`. */
  length?: number;
  /** Where the bytes are: an address of the region of `localKey`. */
  localAddr?: bigint | number;
  /** Where they go: an address of the peer's region of `remoteKey`. */
  remoteAddr?: bigint | number;
  /** WRITE_WITH_IMM: 32 bits for the receiver's `immData`. */
  immData?: number;
  /** Comes back in the completion queue's entry: 32 bits. */
  tag?: number;
  /** Queues with 64-byte entries: so many blocks, each so far behind the one before. */
  strides?: {
    /** How many blocks. */
    count: number;
    /** From one block to the next on this side, bytes. */
    local: bigint | number;
    /** From one block to the next at the peer, bytes. */
    remote: bigint | number;
  };
}

const NAMES = ['opcode', 'flags', 'length', 'localAddr', 'remoteAddr', 'immData', 'tag', 'strides'];
const WQE_BYTES = 32;
const MULTI_STRIDE_BYTES = 64;

/**
 * The bytes of an entry: 32, or 64 with `strides`. No layout of the hardware's is published: this is the software
 * model's, documented in native/include/hbl_doorbell.h.
 *
 * @param into where to write, for use again; a new array by default
 */
export function encodeWqe(wqe: Wqe, into?: Uint8Array): Uint8Array {
  const given = validate.object(wqe, 'wqe', NAMES);
  const strides = given['strides'];
  const size = strides === undefined ? WQE_BYTES : MULTI_STRIDE_BYTES;
  const bytes = into ?? new Uint8Array(size);
  if (bytes.byteLength < size) throw validate.rangeError('into.byteLength', `at least ${size}`, bytes.byteLength);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  view.setUint8(0, validate.integer(given['opcode'], 'wqe.opcode', 0, 0xff));
  view.setUint8(1, validate.optional(given['flags'], 'wqe.flags', 0xff, 0));
  view.setUint16(2, 0, true);
  view.setUint32(4, validate.optional(given['length'], 'wqe.length', U32, 0), true);
  view.setBigUint64(8, BigInt(validate.u64(given['localAddr'] ?? 0, 'wqe.localAddr')), true);
  view.setBigUint64(16, BigInt(validate.u64(given['remoteAddr'] ?? 0, 'wqe.remoteAddr')), true);
  view.setUint32(24, validate.optional(given['immData'], 'wqe.immData', U32, 0), true);
  view.setUint32(28, validate.optional(given['tag'], 'wqe.tag', U32, 0), true);
  if (strides !== undefined) {
    const { count, local, remote } = validate.object(strides, 'wqe.strides', ['count', 'local', 'remote']);
    view.setUint32(32, validate.integer(count, 'wqe.strides.count', 1, U32), true);
    view.setUint32(36, 0, true);
    view.setBigUint64(40, BigInt(validate.u64(local, 'wqe.strides.local')), true);
    view.setBigUint64(48, BigInt(validate.u64(remote, 'wqe.strides.remote')), true);
    view.setBigUint64(56, 0n, true);
  }
  return bytes;
}
