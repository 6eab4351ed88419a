// A datagram to a program that has no address handle yet, with nothing configured. `server`: prints its GID of the host's
// first address and its number, and then what comes. `client GID NUMBER`: sends.
import { AccessFlags, openDevice, QpType, WrOpcode } from '@verbs/core';

const GRH = 40;
const [role, dgid, remoteQpn] = process.argv.slice(2);
const context = openDevice('soft0');
const pd = context.allocPd();
const cq = context.createCq(4);
const mr = pd.allocMr(200, AccessFlags.LOCAL_WRITE);
const cap = { maxSendWr: 1, maxRecvWr: 1, maxSendSge: 1, maxRecvSge: 1 };
const qp = pd.createQp({ qpType: QpType.UD, sendCq: cq, recvCq: cq, cap });
qp.activate({ qkey: 1 });
if (role === 'server') {
  const received = qp.recv({ sgList: [{ mr }] });
  console.log(context.queryGid(1, 1), qp.qpNum);
  const { byteLen } = await received;
  console.log(new TextDecoder().decode(mr.bytes.subarray(GRH, byteLen)));
} else {
  const ah = pd.createAh({ portNum: 1, grh: { dgid, sgidIndex: 1 } });
  const { written: length } = new TextEncoder().encodeInto('the first one', mr.bytes);
  const message = { opcode: WrOpcode.SEND, sgList: [{ mr, length }], ah, remoteQpn: Number(remoteQpn), remoteQkey: 1 };
  await qp.send(message);
}
context.close();
