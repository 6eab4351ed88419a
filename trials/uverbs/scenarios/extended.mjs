/** @import { CompletionQueue, Context, ProtectionDomain, QpType as QpTypes, SendWr } from '@verbs/core' */
/** @import { Scenario } from './scenario.mjs' */
import {
  AccessFlags,
  CounterDescription,
  MigState,
  MwType,
  QpState,
  QpType,
  SendFlags,
  SendOpsFlags,
  SrqType,
  WcExFlags,
  WrOpcode,
} from '@verbs/core';
import { addressVector, dropFixture, makeFixture, toRts } from './fixture.mjs';
import { control, errnoOf, saw } from './scenario.mjs';

/** @param {Context} context */
const extendedCq = (context) =>
  context.createCq(32, {
    channel: null,
    // IBV_WC_STANDARD_FLAGS has the first seven.
    wcFlags: 0x7f | WcExFlags.COMPLETION_TIMESTAMP,
  });

/**
 * A queue pair that posts nothing but SEND.
 * @param {ProtectionDomain} pd
 * @param {CompletionQueue} cq
 * @param {QpTypes} qpType
 */
function sendingQp(pd, cq, qpType) {
  const qp = pd.createQp({
    qpType,
    sendCq: cq,
    recvCq: cq,
    cap: { maxSendWr: 8, maxRecvWr: 8, maxSendSge: 2, maxRecvSge: 2 },
    sendOpsFlags: SendOpsFlags.SEND,
  });
  toRts(qp);
  return qp;
}

/** @type {Record<string, Scenario>} */
export const extendedScenarios = {
  'work-requests': (context) => {
    const pd = context.allocPd();
    const cq = extendedCq(context);
    const qp = pd.createQp({
      qpType: QpType.RC,
      sendCq: cq,
      recvCq: cq,
      cap: { maxSendWr: 8, maxRecvWr: 8, maxSendSge: 2, maxRecvSge: 2, maxInlineData: 64 },
      sendOpsFlags:
        SendOpsFlags.SEND |
        SendOpsFlags.SEND_WITH_IMM |
        SendOpsFlags.RDMA_WRITE |
        SendOpsFlags.RDMA_READ |
        SendOpsFlags.ATOMIC_FETCH_AND_ADD |
        SendOpsFlags.LOCAL_INV,
    });
    toRts(qp);
    const mr = pd.allocMr(8192, AccessFlags.LOCAL_WRITE);
    const sgList = [{ mr, length: 100 }];
    const sendFlags = SendFlags.SIGNALED;
    const remote = { remoteAddr: 0x1122334455667788n, rkey: 0x99aabbcc };
    qp.postSend([
      { opcode: WrOpcode.SEND, sgList: [...sgList, { mr, offset: 4096, length: 200 }], sendFlags },
      { opcode: WrOpcode.SEND_WITH_IMM, sgList, immData: 0x12345678, sendFlags },
      { opcode: WrOpcode.RDMA_WRITE, sgList, ...remote, sendFlags },
      { opcode: WrOpcode.RDMA_READ, sgList, ...remote, sendFlags },
    ]);
    control('queues');
    const word = [{ mr, offset: 8, length: 8 }];
    qp.postSend([
      { opcode: WrOpcode.ATOMIC_FETCH_AND_ADD, sgList: word, ...remote, add: 5, sendFlags },
      { opcode: WrOpcode.LOCAL_INV, invalidateRkey: 0x4711, sendFlags },
    ]);
    control('queues');
    mr.close();
    qp.close();
    cq.close();
    pd.close();
  },

  moderation: (context) => {
    const cq = extendedCq(context);
    cq.modify({ cqCount: 16, cqPeriod: 30 });
    cq.close();
  },

  'reliable-domain': (context) => {
    const pd = context.allocPd();
    const cq = context.createCq(16, { channel: null });
    const xrcd = context.openXrcd();
    const srq = pd.createSrq({ maxWr: 8, maxSge: 1, srqType: SrqType.XRC, xrcd, cq });
    const cap = { maxSendWr: 0, maxRecvWr: 0, maxSendSge: 0, maxRecvSge: 0 };
    const target = pd.createQp({ qpType: QpType.XRC_RECV, xrcd, cap });
    target.close();
    srq.close();
    xrcd.close();
    cq.close();
    pd.close();
  },

  'device-memory': (context) => {
    const pd = context.allocPd();
    const dm = context.allocDm(1024, { logAlignment: 6 });
    const access = AccessFlags.ZERO_BASED | AccessFlags.LOCAL_WRITE;
    const mr = pd.regDmMr(dm, access, { offset: 128, length: 256 });
    mr.close();
    dm.close();
    pd.close();
  },

  'counted-flow': (context) => {
    const pd = context.allocPd();
    const cq = context.createCq(8, { channel: null });
    const cap = { maxSendWr: 4, maxRecvWr: 4, maxSendSge: 1, maxRecvSge: 1 };
    const qp = pd.createQp({ qpType: QpType.RAW_PACKET, sendCq: cq, recvCq: cq, cap });
    const counters = context.createCounters();
    counters.attach({ counterDesc: CounterDescription.PACKETS, index: 0 });
    const flow = qp.createFlow({
      priority: 2,
      port: 1,
      specs: [
        { type: 'eth', val: { etherType: 0x0800 } },
        { type: 'udp', val: { dstPort: 4789 } },
        { type: 'tag', tagId: 0x4711 },
        { type: 'count', counters },
      ],
    });
    counters.read();
    flow.close();
    counters.close();
    qp.close();
    cq.close();
    pd.close();
  },

  'alternate-path': (context) => {
    const fixture = makeFixture(context);
    fixture.qp.modify({
      altAhAttr: addressVector,
      altPkeyIndex: 0,
      altPortNum: 1,
      altTimeout: 15,
      pathMigState: MigState.REARM,
    });
    fixture.qp.modify({ qpState: QpState.SQD, enSqdAsyncNotify: 1 });
    dropFixture(fixture);
  },

  'operations-not-asked-for': (context) => {
    const pd = context.allocPd();
    const cq = context.createCq(32, { channel: null });
    const qp = sendingQp(pd, cq, QpType.UC);
    const mr = pd.allocMr(8192, AccessFlags.LOCAL_WRITE);
    const sgList = [{ mr, length: 100 }];
    const word = [{ mr, length: 8 }];
    const sendFlags = SendFlags.SIGNALED;
    const remote = { remoteAddr: 0x1122334455667788n, rkey: 0x99aabbcc };
    /** @type {SendWr[]} */
    const others = [
      { opcode: WrOpcode.RDMA_READ, sgList, ...remote },
      { opcode: WrOpcode.ATOMIC_FETCH_AND_ADD, sgList: word, ...remote, add: 1 },
      { opcode: WrOpcode.ATOMIC_CMP_AND_SWP, sgList: word, ...remote, compare: 1, swap: 2 },
    ];
    for (const [index, wr] of others.entries()) {
      const errno = errnoOf(() => {
        // The SEND before it is not posted either.
        qp.postSend([{ opcode: WrOpcode.SEND, sgList, sendFlags }, wr]);
      });
      saw(`operation ${index}: ${errno}`);
    }
    qp.postSend({ opcode: WrOpcode.SEND, sgList, sendFlags });
    control('queues');
    mr.close();
    qp.close();
    cq.close();
    pd.close();
  },

  'invalidation-without-its-key': (context) => {
    const pd = context.allocPd();
    const cq = context.createCq(32, { channel: null, wcFlags: WcExFlags.QP_NUM });
    const qp = sendingQp(pd, cq, QpType.RC);
    const key = 0x4711;
    qp.postRecv({ wrId: 5 });
    control(`invalidated ${key}`);
    const [wc] = cq.poll();
    saw(`status ${wc?.status} opcode ${wc?.opcode} flags ${wc?.wcFlags}`);
    saw(`a reader of the key: ${wc?.invalidatedRkey}`);
    qp.close();
    cq.close();
    pd.close();
  },

  // One close() of the context.
  'destroy-order': (context) => {
    const { pd } = makeFixture(context, QpType.UD);
    pd.createAh(addressVector);
    pd.allocMw(MwType.TYPE_2);
    context.close();
  },
};
