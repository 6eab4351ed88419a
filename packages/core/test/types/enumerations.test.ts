import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  AccessFlags,
  type CompletionBatch,
  type Context,
  type Counters,
  CounterDescription,
  CreateCqFlags,
  enumName,
  EventType,
  flagNames,
  FlowAttrType,
  FlowFlags,
  GidType,
  LinkLayer,
  type MemoryRegion,
  MigState,
  MrAdvice,
  MrAdviceFlags,
  Mtu,
  MwType,
  nodeTypeText,
  PortState,
  portStateText,
  type ProtectionDomain,
  QpAttrMask,
  QpCreateFlags,
  type QpInitAttr,
  QpState,
  QpType,
  type QueuePair,
  Rate,
  rateToMbps,
  type ReceiveWorkQueue,
  type RxHashConf,
  RxHashFields,
  RxHashFunction,
  SendFlags,
  SendOpsFlags,
  type SendWr,
  SrqType,
  WcExFlags,
  WcFlags,
  WcOpcode,
  WcStatus,
  wcStatusText,
  type WorkCompletion,
  WqFlags,
  WqState,
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

/** Compiled, never run: the options of everything but connections and requests. */
export function options(
  ctx: Context,
  pd: ProtectionDomain,
  qp: QueuePair,
  wq: ReceiveWorkQueue,
  mr: MemoryRegion,
  counters: Counters,
  queues: QpInitAttr,
  fromC: number,
): void {
  const key = new Uint8Array(40);
  const route = { portNum: 1, dlid: 1 };

  // @ts-expect-error a type of shared receive queues is no type of windows
  pd.allocMw(SrqType.XRC);
  // @ts-expect-error there is no such type
  pd.allocMw(3);
  // @ts-expect-error a type of windows is no type of shared receive queues
  pd.createSrq({ maxWr: 1, srqType: MwType.TYPE_2 });
  // @ts-expect-error a right is no advice
  pd.adviseMr(AccessFlags.LOCAL_WRITE, [{ mr }]);
  // @ts-expect-error an advice is no flag of it
  pd.adviseMr(MrAdvice.PREFETCH, [{ mr }], MrAdvice.PREFETCH_WRITE);
  // @ts-expect-error the fields of completions are no flags of a queue
  ctx.createCq(1, { flags: WcExFlags.IMM });
  // @ts-expect-error the flags of a completion are no fields of it
  ctx.createCq(1, { wcFlags: WcFlags.WITH_IMM });
  // @ts-expect-error operations are no flags of creation
  pd.createQp({ ...queues, createFlags: SendOpsFlags.SEND });
  // @ts-expect-error an operation is no bit of operations
  pd.createQp({ ...queues, sendOpsFlags: WrOpcode.SEND });
  // @ts-expect-error the fields of a hash are not its function
  pd.createQp({ ...queues, rxHashConf: { function: RxHashFields.DST_IPV4, key, fields: RxHashFields.SRC_IPV4 } });
  // @ts-expect-error a flag of queue pairs is none of receive work queues
  wq.modify({ flags: QpCreateFlags.CVLAN_STRIPPING });
  // @ts-expect-error a state of queue pairs is none of receive work queues
  wq.modify({ wqState: QpState.INIT });
  // @ts-expect-error a state is no bit of the mask
  qp.query(QpState.RTS);
  // @ts-expect-error a state of queue pairs is none of migration
  qp.modify({ pathMigState: QpState.RTR });
  // @ts-expect-error 100 is no Rate: it is Rate.GBPS_100
  pd.createAh({ ...route, staticRate: 100 });
  // @ts-expect-error a flag is no type of flows
  qp.createFlow({ type: FlowFlags.DONT_TRAP });
  // @ts-expect-error a type of flows is no flag
  qp.createFlow({ flags: FlowAttrType.MC_DEFAULT });
  // @ts-expect-error a type of flows is no unit
  counters.attach({ counterDesc: FlowAttrType.NORMAL, index: 0 });
  // @ts-expect-error a unit is no flag
  counters.read(CounterDescription.BYTES);
  // @ts-expect-error a number of Gbit/s is no Rate
  rateToMbps(100);
  // @ts-expect-error a state of queue pairs is none of ports
  portStateText(QpState.RTS);
  // @ts-expect-error a layer is no type of devices
  nodeTypeText(LinkLayer.ETHERNET);
  // @ts-expect-error an operation is no status
  wcStatusText(WcOpcode.RECV);

  // What is meant compiles.
  pd.allocMw(MwType.TYPE_2);
  pd.allocMw(fromC);
  pd.createSrq({ maxWr: 1, srqType: SrqType.BASIC });
  pd.adviseMr(MrAdvice.PREFETCH, [{ mr }], MrAdviceFlags.FLUSH);
  ctx.createCq(1, { flags: CreateCqFlags.SINGLE_THREADED, wcFlags: WcExFlags.IMM | WcExFlags.QP_NUM });
  ctx.createCq(1, { flags: 0, wcFlags: fromC });
  const rxHashConf: RxHashConf = { function: RxHashFunction.TOEPLITZ, key, fields: RxHashFields.SRC_IPV4 };
  pd.createQp({ ...queues, createFlags: QpCreateFlags.SOURCE_QPN, sendOpsFlags: SendOpsFlags.SEND, rxHashConf });
  wq.modify({ wqState: WqState.RDY, flags: 0, flagsMask: WqFlags.SCATTER_FCS });
  qp.query(QpAttrMask.STATE | QpAttrMask.CAP);
  qp.modify({ pathMigState: MigState.REARM });
  pd.createAh({ ...route, staticRate: Rate.GBPS_100 });
  qp.createFlow({ type: FlowAttrType.SNIFFER, flags: FlowFlags.DONT_TRAP | FlowFlags.EGRESS });
  counters.attach({ counterDesc: CounterDescription.BYTES, index: 0 });
}

/** Compiled, never run: what is found is compared with its own enumeration. */
export function results(ctx: Context, wc: WorkCompletion, done: CompletionBatch): unknown[] {
  expectTypeOf(wc.status).toEqualTypeOf<WcStatus>();
  expectTypeOf(done.status(0)).toEqualTypeOf<WcStatus>();
  expectTypeOf(wc.opcode).toEqualTypeOf<WcOpcode>();
  expectTypeOf(done.opcode(0)).toEqualTypeOf<WcOpcode>();
  const type = ctx.gidTable(1)[0]?.type;
  ctx.events.on('event', (event) => {
    expectTypeOf(event.type).toEqualTypeOf<EventType>();
  });
  return [
    wc.opcode === WcOpcode.RECV && wc.status === WcStatus.SUCCESS && (wc.wcFlags & WcFlags.WITH_IMM) !== 0,
    ctx.queryPort(1).state === PortState.ACTIVE && type === GidType.ROCE_V2,
    // @ts-expect-error the operation of a request is none of a completion: SEND is 2 there, and 0 here
    wc.opcode === WrOpcode.SEND,
    // @ts-expect-error an operation is no status
    wc.status === WcOpcode.SEND,
    // @ts-expect-error a state of queue pairs is none of ports
    ctx.queryPort(1).state === QpState.RTS,
    // @ts-expect-error a layer is no type of addresses
    type === LinkLayer.ETHERNET,
  ];
}

describe('enumerations', () => {
  it('are plain objects with the numbers of C: no reverse names', () => {
    expect(Mtu).toEqual({ MTU_256: 1, MTU_512: 2, MTU_1024: 3, MTU_2048: 4, MTU_4096: 5 });
    expect(Object.keys(QpState)).toHaveLength(8);
    expect(QpType).toEqual({ RC: 2, UC: 3, UD: 4, RAW_PACKET: 8, XRC_SEND: 9, XRC_RECV: 10, DRIVER: 255 });
    expect(Object.keys(WrOpcode)).toHaveLength(12);
    expect(Object.values(AccessFlags).every((value) => typeof value === 'number')).toBe(true);
    expect(WqState).toEqual({ RESET: 0, RDY: 1, ERR: 2, UNKNOWN: 3 });
    expect(Object.keys(EventType)).toHaveLength(21);
    expect(Object.values(WcStatus)).toEqual(Array.from({ length: 24 }, (_, code) => code));
    expect(JSON.stringify(SendFlags)).toBe('{"FENCE":1,"SIGNALED":2,"SOLICITED":4,"INLINE":8,"IP_CSUM":16}');
  });

  it('have names', () => {
    expect(enumName(QpState, QpState.RTS)).toBe('RTS');
    expect(flagNames(AccessFlags, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ)).toBe('LOCAL_WRITE|REMOTE_READ');
  });
});
