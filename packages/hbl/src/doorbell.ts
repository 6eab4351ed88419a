import {
  fields,
  maybe,
  members,
  type Members,
  or,
  range,
  u24,
  u32,
  u64,
  u8,
  uint8Array,
  validate,
} from '@verbs/core/provider';

const checkDoorbell = fields({ index: range(0, 0x3fffff), qpNum: u24(), portNum: u8() });

/** The fields of a doorbell. */
export interface Doorbell {
  /** Entries of the send work queue written since its creation, modulo 2^22: the doorbell announces all of them. */
  index: number;
  /** The hardware's number of the queue pair, from `queryQp`: 24 bits. */
  qpNum: number;
  /** The port, from 1. */
  portNum: number;
}

/**
 * The 64 bits of a doorbell in the hardware's layout: bits 0 to 21 index, 32 to 55 queue pair, 56 to 63 port.
 *
 * @throws TypeError, RangeError for a field that is missing or out of its range
 * @example fifo.push(encodeDoorbell({ index: 1, qpNum: queryQp(qp).qpNum, portNum: 1 }));
 */
export function encodeDoorbell(doorbell: Doorbell): bigint {
  const { index, qpNum, portNum } = checkDoorbell(doorbell, 'doorbell');
  return (BigInt(portNum) << 56n) | (BigInt(qpNum) << 32n) | BigInt(index);
}

/** Takes the 64 bits of a doorbell apart. It ignores reserved bits. */
export function decodeDoorbell(doorbell: bigint): Doorbell {
  const bits = BigInt(validate.u64(doorbell, 'doorbell'));
  return {
    index: Number(bits & 0x3fffffn),
    qpNum: Number((bits >> 32n) & 0xffffffn),
    portNum: Number(bits >> 56n),
  };
}

enum WqeOpcodeValue {
  /** No operation; with SIGNALED it completes. */
  NOP = 0,
  /** An RDMA write. */
  WRITE = 1,
  /** An RDMA write with 32 bits for the receiver's completion. */
  WRITE_WITH_IMM = 2,
}
/** The operation of an entry of a send work queue. */
export const WqeOpcode: Members<typeof WqeOpcodeValue> = members(WqeOpcodeValue);
/** A value of {@link WqeOpcode}. A number that comes from C is one as well; another enumeration's value is not. */
export type WqeOpcode = WqeOpcodeValue;

enum WqeFlagsValue {
  /** The entry completes on the queue pair's send completion queue. */
  SIGNALED = 1,
  /** The receiver's completion is a solicited event. */
  SOLICITED = 2,
}
/** Flags of such an entry, to be or-ed. */
export const WqeFlags: Members<typeof WqeFlagsValue> = members(WqeFlagsValue);
/** Or-ed values of {@link WqeFlags}, or 0. A number that comes from C is one as well; another enumeration's value is not. */
export type WqeFlags = WqeFlagsValue | 0;

/** An entry of a send work queue. The keys are the queue pair's `localKey` and `remoteKey`. */
export interface Wqe {
  /** {@link WqeOpcode} */
  opcode: WqeOpcode;
  /** {@link WqeFlags}, or-ed; default 0. */
  flags?: WqeFlags;
  /** Bytes, default 0; of each block with `strides`. */
  length?: number;
  /** Where the bytes come from: an address of the region of `localKey`; default 0. */
  localAddr?: bigint | number;
  /** Where they go: an address of the peer's region of `remoteKey`; default 0. */
  remoteAddr?: bigint | number;
  /** WRITE_WITH_IMM: 32 bits for the receiver's `immData`, default 0. */
  immData?: number;
  /** A value of the program that the completion returns: 32 bits, default 0. */
  tag?: number;
  /** Queues with 64-byte entries: N blocks at equal distances. */
  strides?: {
    /** The number of blocks. */
    count: number;
    /** From one block to the next on this side, bytes. */
    local: bigint | number;
    /** From one block to the next at the peer, bytes. */
    remote: bigint | number;
  };
}

const checkWqe = fields({
  opcode: u8(),
  flags: or(u8(), 0),
  length: or(u32(), 0),
  localAddr: or(u64(), 0n),
  remoteAddr: or(u64(), 0n),
  immData: or(u32(), 0),
  tag: or(u32(), 0),
  strides: maybe(fields({ count: u32(1), local: u64(), remote: u64() })),
});
const WQE_BYTES = 32;
const MULTI_STRIDE_BYTES = 64;

/**
 * The bytes of an entry: 32, or 64 with `strides`. The layout of the hardware is not published: this is the layout of the
 * software model, documented in native/include/hbl_doorbell.h.
 *
 * @param into the array to write to; a new one by default
 */
export function encodeWqe(wqe: Wqe, into?: Uint8Array): Uint8Array {
  const { strides, ...given } = checkWqe(wqe, 'wqe');
  const size = strides === undefined ? WQE_BYTES : MULTI_STRIDE_BYTES;
  const bytes = into === undefined ? new Uint8Array(size) : uint8Array(into, 'into');
  if (bytes.byteLength < size) throw validate.rangeError('into.byteLength', `at least ${size}`, bytes.byteLength);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  view.setUint8(0, given.opcode);
  view.setUint8(1, given.flags);
  view.setUint16(2, 0, true);
  view.setUint32(4, given.length, true);
  view.setBigUint64(8, given.localAddr, true);
  view.setBigUint64(16, given.remoteAddr, true);
  view.setUint32(24, given.immData, true);
  view.setUint32(28, given.tag, true);
  if (strides !== undefined) {
    view.setUint32(32, strides.count, true);
    view.setUint32(36, 0, true);
    view.setBigUint64(40, strides.local, true);
    view.setBigUint64(48, strides.remote, true);
    view.setBigUint64(56, 0n, true);
  }
  return bytes;
}
