// A service for datagrams: it answers each request in capitals, and needs no connection to its clients.
//   node ud-service.ts               # in one shell; it prints the command for the other one
//   node ud-service.ts QPN GID TEXT
import { openDevice, QpType, receiver, WrOpcode } from '@verbs/core';

const qkey = 0x11111111;
const ctx = openDevice();
const pd = ctx.allocPd();
const cq = ctx.createCq(128);
const cap = { maxSendWr: 32, maxRecvWr: 64 };
const qp = pd.createQp({ qpType: QpType.UD, sendCq: cq, recvCq: cq, cap });
qp.activate({ qkey });
const messages = receiver(qp, { slots: 64, size: 1024 });

const [qpn, gid, text = ''] = process.argv.slice(2);
if (qpn === undefined || gid === undefined) {
  console.log(`node ud-service.ts ${qp.qpNum} ${ctx.defaultGid().gid} TEXT`);
  // Capitals may be longer than a message.
  for await (const message of messages) await message.reply(message.text().toUpperCase()).catch(console.error);
} else {
  const request = pd.allocMr(1024, 0);
  const { written: length } = new TextEncoder().encodeInto(text, request.bytes);
  const ah = pd.createAh({ portNum: 1, grh: { dgid: gid, hopLimit: 64 } });
  const sgList = [{ mr: request, length }];
  await qp.send({ opcode: WrOpcode.SEND, ah, remoteQpn: Number(qpn), remoteQkey: qkey, sgList });
  console.log((await messages.next({ signal: AbortSignal.timeout(5000) }))?.text());
}
ctx.close();
