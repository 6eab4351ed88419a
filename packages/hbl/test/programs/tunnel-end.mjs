// The far end of a VXLAN tunnel, in a process of its own: says where its memory is, and later what stands in it.
import process from 'node:process';
import { AccessFlags, Mtu, QpState, QpType } from '@verbs/core';
import { createEncap, modifyQp, openDevice, QpCaps } from '@verbs/hbl';

const ctx = openDevice('hbl_0');
const pd = ctx.allocPd();
const access = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE;
const mr = pd.allocMr(4096, access);
const cq = ctx.createCq(4);
const qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxSendWr: 1, maxRecvWr: 1 } });

process.on('message', ({ peer, encap, read }) => {
  if (peer !== undefined) {
    if (encap !== undefined) encap = { ...encap, header: Uint8Array.from(encap.header) };
    const use = encap && { caps: QpCaps.ENCAP, encapNum: createEncap(ctx, encap).encapNum };
    const ahAttr = { portNum: 1, grh: { dgid: peer.gid, sgidIndex: 0, hopLimit: 64 } };
    const common = { pathMtu: Mtu.MTU_1024, destQpNum: peer.qpNum, ahAttr };
    modifyQp(qp, { qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: access });
    modifyQp(qp, { qpState: QpState.RTR, ...common, rqPsn: 0, maxDestRdAtomic: 1, minRnrTimer: 12 }, use);
    modifyQp(qp, { qpState: QpState.RTS, sqPsn: 0, timeout: 14, retryCnt: 7, rnrRetry: 7, maxRdAtomic: 1 }, use);
    process.send({ connected: true });
  } else {
    process.send({ text: new TextDecoder().decode(mr.bytes.slice(0, read)) });
  }
});
// The parent went away, or is done.
process.on('disconnect', () => process.exit());
process.send({ gid: ctx.queryGid(1, 0), qpNum: qp.qpNum, addr: String(mr.addr), rkey: mr.rkey });
