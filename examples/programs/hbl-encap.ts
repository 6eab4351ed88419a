// An RDMA WRITE between two ports of a Gaudi's model, each behind an encapsulation: every packet gets a VXLAN header.
//   node hbl-encap.ts
import { AccessFlags, Mtu, QpState, QpType, WrOpcode } from '@verbs/core';
import * as hbl from '@verbs/hbl';

const ctx = hbl.openDevice('hbl_0');
const pd = ctx.allocPd();
const cq = ctx.createCq(16);
const qpAccessFlags = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE;
const mr = pd.allocMr(4096, qpAccessFlags);

const header = Uint8Array.of(8, 0, 0, 0, 0, 0, 42, 0); // of VXLAN: a flag, and the number of the network
const end = (portNum: number) => {
  const qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxSendWr: 4, maxRecvWr: 1 } });
  hbl.modifyQp(qp, { qpState: QpState.INIT, pkeyIndex: 0, portNum, qpAccessFlags });
  const encapType = hbl.EncapType.ENC_OVER_UDP;
  const encap = hbl.createEncap(ctx, { portNum, encapType, udpDstPort: 4789, header });
  return { portNum, gid: ctx.defaultGid(portNum).gid, qp, encap };
};
const [one, two] = [end(1), end(2)];
const connect = ({ qp, portNum, encap }: typeof one, peer: typeof one) => {
  const behind = { caps: hbl.QpCaps.ENCAP, encapNum: encap.encapNum };
  const path = { pathMtu: Mtu.MTU_1024, ahAttr: { portNum, grh: { dgid: peer.gid, hopLimit: 64 } } };
  const receiving = { destQpNum: peer.qp.qpNum, rqPsn: 0, maxDestRdAtomic: 1, minRnrTimer: 12 };
  hbl.modifyQp(qp, { qpState: QpState.RTR, ...path, ...receiving }, behind);
  hbl.modifyQp(qp, { qpState: QpState.RTS, sqPsn: 0, timeout: 14, retryCnt: 7, rnrRetry: 7, maxRdAtomic: 1 }, behind);
};
connect(one, two);
connect(two, one);

const { written } = new TextEncoder().encodeInto('through VXLAN', mr.bytes);
const sgList = [{ mr, length: written }];
await one.qp.send({ opcode: WrOpcode.RDMA_WRITE, sgList, remote: mr.remote(), remoteOffset: 2048 });
console.log(new TextDecoder().decode(mr.bytes.subarray(2048, 2048 + written)));
ctx.close();
