/** @import { AhAttr, CompletionQueue, Context, MemoryRegion, ProtectionDomain, QueuePair } from '@verbs/core' */
import { AccessFlags, Mtu, QpState, QpType } from '@verbs/core';

/** @type {AhAttr} */
export const addressVector = {
  portNum: 1,
  // A test of the comparison itself asks for another value than C has.
  sl: process.env['UVERBS_TEST_DIFFERENCE'] === undefined ? 3 : 4,
  isGlobal: true,
  grh: { dgid: '::ffff:192.0.2.7', sgidIndex: 3, hopLimit: 64, trafficClass: 0x20, flowLabel: 0x12345 },
};

const remoteRights = AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_ATOMIC;

/** @param {QueuePair} qp */
export function toRts(qp) {
  const reliable = qp.qpType === QpType.RC;
  const connected = qp.qpType !== QpType.UD;
  qp.modify({
    qpState: QpState.INIT,
    portNum: 1,
    pkeyIndex: 0,
    ...(connected ? { qpAccessFlags: remoteRights } : { qkey: 0x11111111 }),
  });
  qp.modify({
    qpState: QpState.RTR,
    ...(connected ? { pathMtu: Mtu.MTU_1024, destQpNum: 0x111, rqPsn: 0x456, ahAttr: addressVector } : {}),
    ...(reliable ? { maxDestRdAtomic: 4, minRnrTimer: 12 } : {}),
  });
  qp.modify({
    qpState: QpState.RTS,
    sqPsn: 0x123,
    ...(reliable ? { timeout: 14, retryCnt: 7, rnrRetry: 6, maxRdAtomic: 4 } : {}),
  });
}

/**
 * @typedef {object} Fixture
 * @property {ProtectionDomain} pd
 * @property {CompletionQueue} cq
 * @property {QueuePair} qp
 * @property {MemoryRegion} mr
 */

/**
 * A protection domain, a completion queue and a queue pair in RTS, as most scenarios need.
 * @param {Context} context
 * @param {QpType} [qpType]
 * @returns {Fixture}
 */
export function makeFixture(context, qpType = QpType.RC) {
  const pd = context.allocPd();
  const cq = context.createCq(16, { channel: null });
  const qp = pd.createQp({
    qpType,
    sendCq: cq,
    recvCq: cq,
    cap: { maxSendWr: 8, maxRecvWr: 8, maxSendSge: 2, maxRecvSge: 2, maxInlineData: 64 },
  });
  toRts(qp);
  const mr = pd.allocMr(8192, AccessFlags.LOCAL_WRITE | remoteRights | AccessFlags.MW_BIND);
  return { pd, cq, qp, mr };
}

/** @param {Fixture} fixture */
export function dropFixture({ pd, cq, qp, mr }) {
  mr.close();
  qp.close();
  cq.close();
  pd.close();
}
