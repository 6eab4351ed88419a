// What programs do with the objects of the package, for packages/core/test/programs/native-calls.mjs.
import { AccessFlags, Mtu, QpState, QpType } from '@verbs/core';
import {
  createCq,
  createEncap,
  createUsrFifo,
  EncapType,
  encodeDoorbell,
  isSupported,
  listDevices,
  modifyQp,
  openDevice,
  QpCaps,
  queryCq,
  queryDevice,
  queryPort,
  queryQp,
  readCq,
  setPortEx,
  WqeOpcode,
} from '../../dist/index.js';

const access = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE;

export default function tour() {
  for (const device of listDevices()) isSupported(device);
  const ctx = openDevice('hbl_0', { portsMask: 0 });
  queryDevice(ctx);
  setPortEx(ctx, { portNum: 1, wqArrAttr: [{ maxNumOfWqs: 64, maxNumOfWqesInWq: 64 }] });
  queryPort(ctx, 1);
  const cq = createCq(ctx, 16, { portNum: 1, channel: ctx.createCompChannel() });
  queryCq(cq);
  const pd = ctx.allocPd();
  const mr = pd.allocMr(4096, access);
  const cap = { maxSendWr: 16, maxRecvWr: 16 };
  const qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap });
  const header = new Uint8Array(32);
  const encap = createEncap(ctx, { portNum: 1, encapType: EncapType.ENC_OVER_UDP, udpDstPort: 4789, header });
  createEncap(ctx, { portNum: 1, encapType: EncapType.NO_ENC });
  const grh = { dgid: ctx.queryGid(1, 0), sgidIndex: 0, hopLimit: 64 };
  modifyQp(qp, { qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: access }, { wqGranularity: 0 });
  modifyQp(
    qp,
    {
      qpState: QpState.RTR,
      pathMtu: Mtu.MTU_1024,
      destQpNum: qp.qpNum,
      rqPsn: 0,
      maxDestRdAtomic: 4,
      minRnrTimer: 12,
      ahAttr: { portNum: 1, grh },
    },
    { caps: QpCaps.ENCAP, encapNum: encap.encapNum, localKey: mr.lkey },
  );
  const rts = { qpState: QpState.RTS, sqPsn: 0, timeout: 14, retryCnt: 3, rnrRetry: 7, maxRdAtomic: 4 };
  modifyQp(qp, rts, { caps: QpCaps.ENCAP, encapNum: encap.encapNum, remoteKey: mr.rkey });
  const { sendQueue, qpNum } = queryQp(qp);
  const fifo = createUsrFifo(ctx, { portNum: 1 });
  if (sendQueue !== undefined) {
    const index = sendQueue.write(0, { opcode: WqeOpcode.WRITE, length: 8, localAddr: mr.addr, remoteAddr: mr.addr });
    fifo.push(encodeDoorbell({ index, qpNum, portNum: 1 }));
  }
  fifo.push(new BigUint64Array(4));
  void fifo.free;
  void fifo.ci;
  readCq(cq);
  return () => {
    ctx.close();
  };
}
