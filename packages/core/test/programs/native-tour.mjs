// What programs do with every kind of object, for native-calls.mjs.
import { AccessFlags, openDevice, QpAttachCompCntrOp, QpType, SendFlags, WrOpcode } from '../../dist/index.js';

export default async function tour() {
  const ctx = openDevice('soft0');
  ctx.queryDevice();
  ctx.queryDeviceEx();
  ctx.queryPort(1);
  ctx.gidTable(1);
  ctx.queryPkey(1, 0);
  ctx.pkeyIndex(1, 0xffff);
  ctx.queryRtValues();
  const pd = ctx.allocPd();
  const channel = ctx.createCompChannel();
  const cq = ctx.createCq(64, { channel });
  const access = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_ATOMIC | AccessFlags.MW_BIND;
  const mr = pd.allocMr(4096, access);
  pd.regMr(new Uint8Array(new SharedArrayBuffer(4096)), AccessFlags.LOCAL_WRITE);
  const dm = ctx.allocDm(256);
  dm.copyTo(0, new Uint8Array(16));
  dm.copyFrom(0, new Uint8Array(16));
  const buf = pd.allocBuf(256);
  buf.copyTo(0, new Uint8Array(16));
  buf.copyFrom(0, new Uint8Array(16));
  pd.regBufMr(buf, AccessFlags.LOCAL_WRITE);
  const dmah = ctx.allocDmah({ ph: 1 });
  pd.regMrEx({ buf, access: AccessFlags.LOCAL_WRITE, dmah });
  pd.regMrEx({ view: new Uint8Array(new SharedArrayBuffer(4096)), access: AccessFlags.LOCAL_WRITE });
  const mw = pd.allocMw();
  const srq = pd.createSrq({ maxWr: 8, maxSge: 2 });
  srq.postRecv({ sgList: [{ mr, length: 8 }] });
  srq.query();
  const cap = { maxSendWr: 16, maxRecvWr: 16, maxSendSge: 2, maxRecvSge: 2, maxInlineData: 64 };
  const of = (qpType, more) => pd.createQp({ qpType, sendCq: cq, recvCq: cq, cap, ...more });
  const [one, other] = [of(QpType.RC), of(QpType.RC)];
  const counter = ctx.createCompCntr();
  one.attachCompCntr(counter, QpAttachCompCntrOp.SEND);
  counter.inc(3);
  counter.read();
  const { gid } = ctx.defaultGid();
  for (const [qp, peer] of [
    [one, other],
    [other, one],
  ]) {
    qp.connect({ remote: { gid, qpNum: peer.qpNum, psn: 5 }, psn: 5 });
    qp.query();
  }
  other.postRecv({ wrId: 1, sgList: [{ mr, offset: 64, length: 64 }] });
  one.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList: [{ mr, length: 32 }] });
  const remote = { remoteAddr: mr.addr, rkey: mr.rkey };
  one.postSend({ opcode: WrOpcode.RDMA_WRITE, ...remote, sgList: [{ mr, offset: 512, length: 32 }] });
  one.bindMw(mw, { bindInfo: { mr, length: 64, access: AccessFlags.REMOTE_WRITE } });
  cq.reqNotify();
  await cq.wait();
  cq.poll(8);
  const ud = of(QpType.UD, { srq });
  ud.activate({ qkey: 1 });
  ud.attachMcast('ff0e::1');
  const address = { grh: { dgid: gid, sgidIndex: 0, hopLimit: 1 }, portNum: 1 };
  pd.createAh(address);
  ctx.resolveEthL2FromGid(address);
  cq.resize(128);
  srq.modify({ srqLimit: 1 });
  try {
    pd.adviseMr(0, [{ mr, length: 64 }]);
  } catch {
    // Only for regions that are paged on demand. The arguments are recorded.
  }
  ctx.openXrcd();
  ctx.allocTd();
  return () => ctx.close();
}
