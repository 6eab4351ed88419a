import { AccessFlags, type Context, MwType, QpState, type QueuePair, SrqType, WrOpcode } from '@verbs/core';
import { describe, expect, it } from 'vitest';
import {
  CqType,
  createCq,
  createUsrFifo,
  encodeWqe,
  MemId,
  modifyQp,
  PortCaps,
  QpCaps,
  QpWqTypes,
  setPortEx,
  SwqGranularity,
  UsrFifoType,
  WqeFlags,
  WqeOpcode,
} from '../../src/index.js';

/** Compiled, never run: the enumerations of this package are not those of `@verbs/core`, nor each other. */
export function programs(ctx: Context, qp: QueuePair, fromC: number): void {
  const size = { maxNumOfWqs: 1, maxNumOfWqesInWq: 1 };

  // @ts-expect-error a type of FIFOs is no type of completion queues, although CC is 1 in both
  createCq(ctx, 4, { portNum: 1, cqType: UsrFifoType.CC });
  // @ts-expect-error there is no such type
  createCq(ctx, 4, { portNum: 1, cqType: 2 });
  // @ts-expect-error a type of completion queues is no type of FIFOs
  createUsrFifo(ctx, { portNum: 1, usrFifoType: CqType.CC });
  // @ts-expect-error a type of core's windows is no memory
  setPortEx(ctx, { portNum: 1, wqArrAttr: [{ ...size, memId: MwType.TYPE_1 }] });
  // @ts-expect-error a type of core's shared receive queues is no size
  setPortEx(ctx, { portNum: 1, wqArrAttr: [{ ...size, swqGranularity: SrqType.XRC }] });
  // @ts-expect-error a capability of queue pairs is none of ports
  setPortEx(ctx, { portNum: 1, caps: QpCaps.LOOPBACK });
  // @ts-expect-error a capability of ports is none of queue pairs
  modifyQp(qp, { qpState: QpState.RTR }, { caps: PortCaps.ADVANCED });
  // @ts-expect-error a right of core is no type of work queues
  modifyQp(qp, { qpState: QpState.INIT }, { wqType: AccessFlags.REMOTE_WRITE });
  // @ts-expect-error core's RDMA_WRITE is 0, which is NOP here
  encodeWqe({ opcode: WrOpcode.RDMA_WRITE });
  // @ts-expect-error an operation is no flag
  encodeWqe({ opcode: WqeOpcode.NOP, flags: WqeOpcode.WRITE });

  // What is meant compiles.
  createCq(ctx, 4, { portNum: 1, cqType: CqType.CC });
  createUsrFifo(ctx, { portNum: 1, usrFifoType: fromC });
  const array = { ...size, memId: MemId.DEVICE, swqGranularity: SwqGranularity.GRAN_64B };
  setPortEx(ctx, { portNum: 1, caps: PortCaps.ADVANCED | PortCaps.ADAPTIVE_TIMEOUT, wqArrAttr: [array] });
  modifyQp(qp, { qpState: QpState.RTR }, { caps: QpCaps.ENCAP | QpCaps.LOOPBACK, encapNum: 1 });
  modifyQp(qp, { qpState: QpState.RTR }, { caps: 0x10n });
  modifyQp(qp, { qpState: QpState.INIT }, { wqType: QpWqTypes.WRITE | QpWqTypes.RECV_RDV });
  encodeWqe({ opcode: WqeOpcode.WRITE, flags: WqeFlags.SIGNALED });
}

describe('enumerations', () => {
  it('are plain objects with the numbers of C: no reverse names', () => {
    expect(CqType).toEqual({ QP: 0, CC: 1 });
    expect(Object.values(QpCaps)).toEqual([1, 2, 4, 8, 16, 32, 64]);
    expect(Object.values(WqeOpcode)).toEqual([0, 1, 2]);
  });
});
