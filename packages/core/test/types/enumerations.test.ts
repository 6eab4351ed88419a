import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  AccessFlags,
  type Context,
  enumName,
  flagNames,
  Mtu,
  type ProtectionDomain,
  type QpInitAttr,
  QpState,
  QpType,
  type QueuePair,
  SendFlags,
  type SendWr,
  SrqType,
  WcOpcode,
  WrOpcode,
} from '../../src/index.js';

/** Compiled, never run: what programs may write, and what they may not. */
export function programs(
  ctx: Context,
  pd: ProtectionDomain,
  rc: QueuePair<typeof QpType.RC>,
  ud: QueuePair<typeof QpType.UD>,
  any: QueuePair,
  queues: Omit<QpInitAttr, 'qpType'>,
  fromC: number,
): unknown[] {
  // An MTU is no number of bytes, a state is no right, and a right is no flag of a request.
  // @ts-expect-error 4096 is no Mtu: it is Mtu.MTU_4096
  any.modify({ pathMtu: 4096 });
  // @ts-expect-error a state is no MTU
  any.modify({ pathMtu: QpState.RTS });
  // @ts-expect-error a state is no right
  pd.allocMr(64, QpState.RTS);
  // @ts-expect-error a state is no right
  any.connect({ remote: { qpNum: 17 }, access: QpState.RTS });
  // @ts-expect-error rights are or-ed from members
  pd.allocMr(64, 3);
  // @ts-expect-error a right is no flag of a request
  any.postSend({ opcode: WrOpcode.SEND, sendFlags: AccessFlags.REMOTE_WRITE });
  // @ts-expect-error a flag of a request is no right
  any.modify({ qpAccessFlags: SendFlags.INLINE });
  // @ts-expect-error an MTU is no state
  any.modify({ qpState: Mtu.MTU_1024 });
  // @ts-expect-error a type of queue pairs, not a state
  any.modify({ curQpState: QpType.RAW_PACKET });
  // @ts-expect-error a type of queue pairs is no operation
  any.postSend({ opcode: QpType.RC });
  // @ts-expect-error not even with the number of an operation: both are 2
  any.queryDataInOrder(QpType.RC);
  // @ts-expect-error the operation of a completion is no operation of a request: SEND is 0 there, and 2 here
  any.postSend({ opcode: WcOpcode.SEND });
  // @ts-expect-error an operation is no type of queue pairs
  pd.createQp({ qpType: WrOpcode.SEND, ...queues });
  // @ts-expect-error a type of shared receive queues is no type of queue pairs
  pd.createQp({ qpType: SrqType.XRC, ...queues });
  // @ts-expect-error there is no such type
  pd.createQp({ qpType: 1, ...queues });
  // @ts-expect-error an operation is no flag
  any.postSend({ opcode: WrOpcode.SEND, sendFlags: WrOpcode.RDMA_READ });

  // What is meant compiles: members, or-ed members, nothing at all, and numbers from C.
  any.modify({ pathMtu: Mtu.MTU_4096, qpAccessFlags: AccessFlags.REMOTE_READ | AccessFlags.REMOTE_WRITE });
  any.modify({ pathMtu: ctx.queryPort(1).activeMtu, qpAccessFlags: 0 });
  any.modify({ pathMtu: fromC, qpState: fromC, qpAccessFlags: fromC });
  pd.allocMr(64, AccessFlags.LOCAL_WRITE);
  pd.allocMr(64, fromC);
  any.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED | SendFlags.INLINE });
  const bits: number = AccessFlags.LOCAL_WRITE;
  pd.allocMr(64, bits);
  any.queryDataInOrder(fromC);

  // A member in an object that a variable holds keeps its type, so that objects can be prepared.
  const request = { opcode: WrOpcode.SEND, sgList: [] };
  any.postSend(request);
  const attr = { qpType: QpType.UD, ...queues };
  expectTypeOf(pd.createQp(attr)).toEqualTypeOf<QueuePair<typeof QpType.UD>>();
  const step = { qpState: QpState.RTS, sqPsn: 0 };
  ud.modify(step);

  // Connections and requests go by the type of the queue pair.
  rc.connect({ remote: { qpNum: 17 } });
  // @ts-expect-error a UD queue pair has no peer
  ud.connect({ remote: { qpNum: 17 } });
  rc.postSend({ opcode: WrOpcode.RDMA_READ, remoteAddr: 0n, rkey: 1 });
  // @ts-expect-error a UD queue pair does not read
  ud.postSend({ opcode: WrOpcode.RDMA_READ, remoteAddr: 0n, rkey: 1 });
  // @ts-expect-error a write has the peer's memory
  rc.postSend({ opcode: WrOpcode.RDMA_WRITE });
  // @ts-expect-error a SEND_WITH_IMM has its 32 bits
  rc.postSend({ opcode: WrOpcode.SEND_WITH_IMM });
  // @ts-expect-error a SEND has no memory of the peer
  rc.postSend({ opcode: WrOpcode.SEND, compare: 1n });

  // The type says what is known: the member, or nothing for a number of which nothing is known.
  expectTypeOf(pd.createQp({ qpType: QpType.RC, ...queues })).toEqualTypeOf<QueuePair<typeof QpType.RC>>();
  expectTypeOf(rc.qpType).toEqualTypeOf<typeof QpType.RC>();
  expectTypeOf(any.qpType).toEqualTypeOf<QpType>();
  const unknown = pd.createQp({ qpType: fromC, ...queues });
  unknown.connect({ remote: { qpNum: 17 } });
  unknown.activate({ qkey: 1 });
  unknown.postSend({ opcode: WrOpcode.SEND });
  unknown.modify({ qpState: QpState.INIT });
  any.connect({ remote: { qpNum: 17 } });
  any.activate({ qkey: 1 });
  any.postSend({ opcode: WrOpcode.SEND });

  // An opcode tells which request it is.
  const immediate = (wr: SendWr): number => (wr.opcode === WrOpcode.SEND_WITH_IMM ? wr.immData : 0);
  const onlyRc = (qp: QueuePair<typeof QpType.RC>): QueuePair => qp;
  return [
    immediate,
    onlyRc(rc),
    // @ts-expect-error a queue pair of any type is not one of RC
    onlyRc(any),
    // @ts-expect-error a UD queue pair is not one of RC
    onlyRc(ud),
    // @ts-expect-error a type of queue pairs and an operation never are equal
    any.qpType === WrOpcode.SEND,
  ];
}

describe('enumerations', () => {
  it('are plain objects with the numbers of C: no reverse names', () => {
    expect(Mtu).toEqual({ MTU_256: 1, MTU_512: 2, MTU_1024: 3, MTU_2048: 4, MTU_4096: 5 });
    expect(Object.keys(QpState)).toHaveLength(8);
    expect(QpType).toEqual({ RC: 2, UC: 3, UD: 4, RAW_PACKET: 8, XRC_SEND: 9, XRC_RECV: 10, DRIVER: 255 });
    expect(Object.keys(WrOpcode)).toHaveLength(11);
    expect(Object.values(AccessFlags).every((value) => typeof value === 'number')).toBe(true);
    expect(JSON.stringify(SendFlags)).toBe('{"FENCE":1,"SIGNALED":2,"SOLICITED":4,"INLINE":8,"IP_CSUM":16}');
  });

  it('have names', () => {
    expect(enumName(QpState, QpState.RTS)).toBe('RTS');
    expect(flagNames(AccessFlags, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ)).toBe('LOCAL_WRITE|REMOTE_READ');
  });
});
