import type { Context } from '@verbs/core';
import { list, check, checked, fields, or, u32, u64, u8, validate } from '@verbs/core/provider';
import { MemId, type PortCaps, SwqGranularity } from './enums.js';
import { portHint } from './device.js';
import { forContext } from './libraries.js';
import { native, type NativePort } from './native.js';

const U32 = 0xffffffff;
const ARRAYS = 5;
const OFFSETS = 16;
const ATOMIC_OFFSETS = 2;

/** `struct hbldv_wq_array_attr`. If both counts are 0, the port has no such array. */
export interface WqArrayAttr {
  /** The number of queue pairs. */
  maxNumOfWqs: number;
  /** Entries of each work queue: 16 to 32768. */
  maxNumOfWqesInWq: number;
  /** {@link MemId}, default HOST. */
  memId?: MemId;
  /** {@link SwqGranularity}, default 32 bytes. */
  swqGranularity?: SwqGranularity;
}

/** `struct hbldv_port_ex_attr`. */
export interface PortExAttr {
  /** Counts from 1. */
  portNum: number;
  /** {@link PortCaps}, or-ed; default 0. */
  caps?: PortCaps | bigint;
  /** By {@link WqArrayType}: up to 5. Those of collectives have a use with the Gaudi SDK's library only. */
  wqArrAttr?: readonly WqArrayAttr[];
  /** Offsets in the NIC's memory for back-pressure signals: up to 16, each up to 0x7ffffff. The first two need ADVANCED. */
  qpWqBpOffs?: readonly number[];
  /** Offsets of the FIFOs of atomic fetch-and-add: up to 2. The Gaudi SDK's library only. */
  atomicFnaFifoOffs?: readonly number[];
  /** Bytes of the mask of atomic fetch-and-add. The Gaudi SDK's library only. */
  atomicFnaMaskSize?: number;
}

/** `struct hbldv_query_port_attr`. */
export type QueryPortAttr = NativePort;

const wqArray = fields({
  maxNumOfWqs: u32(),
  maxNumOfWqesInWq: u32(),
  memId: or(u32(), MemId.HOST),
  swqGranularity: or(u32(), SwqGranularity.GRAN_32B),
});

const checkAttr = fields({
  portNum: u32(),
  caps: or(u64(), 0n),
  wqArrAttr: or(list(wqArray, ARRAYS), []),
  qpWqBpOffs: or(list(u32(), OFFSETS), []),
  atomicFnaFifoOffs: or(list(u32(), ATOMIC_OFFSETS), []),
  atomicFnaMaskSize: or(u8(), 0),
});

/**
 * `hbldv_set_port_ex`: the first call on a port, exactly once, before its FIFOs, encapsulations and congestion-control
 * completion queues. A default open has set up all ports already.
 *
 * @throws VerbsError EPERM (done already, or the context is of a default open), EINVAL (a port that the context does not
 *   have, or a value that the device rejects), ENODEV (the port is closed), EOPNOTSUPP (a member that only the Gaudi SDK's
 *   library knows, with another)
 * @example setPortEx(ctx, { portNum: 1, wqArrAttr: [{ maxNumOfWqs: 64, maxNumOfWqesInWq: 256 }] });
 */
export function setPortEx(ctx: Context, attr: PortExAttr): void {
  const syscall = 'hbldv_set_port_ex';
  const { vendor: hbl, handle } = forContext(ctx, syscall);
  const given = checkAttr(attr, 'attr');
  const result = native.setPortEx(hbl, handle, given);
  check(result, syscall, { detail: `of port ${given.portNum}`, hint: portHint(ctx, given.portNum, result) });
}

/**
 * `hbldv_query_port`. Ports count from 1. Works before {@link setPortEx}.
 *
 * `maxCqSize` is in bytes. `numAllocatedQps` includes the port's own Ethernet queue pair. A Gaudi2 reports 2 for
 * `maxNumOfEncaps` although its limit is 1, and never reports `advanced`.
 *
 * @throws VerbsError EINVAL, ENODEV
 */
export function queryPort(ctx: Context, portNum: number): QueryPortAttr {
  const syscall = 'hbldv_query_port';
  const { vendor: hbl, handle } = forContext(ctx, syscall);
  validate.integer(portNum, 'portNum', 0, U32);
  const attr = native.queryPort(hbl, handle, portNum);
  return checked(attr, syscall, { detail: `of port ${portNum}`, hint: portHint(ctx, portNum, attr) });
}
