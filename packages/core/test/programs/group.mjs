// Members of a multicast group on two hosts. `member` answers the first message to the group. `sender`, a member too, sends one
// from the address of its host, and prints the two messages that it hears, in the order of their text.
import process from 'node:process';
import { AccessFlags, openDevice, QpType, receiver, WrOpcode } from '@verbs/core';

const GROUP = 'ff0e::4242';
const QKEY = 0x11111111;
const [, , role] = process.argv;

const ctx = openDevice();
const pd = ctx.allocPd();
const cq = ctx.createCq(16);
const qp = pd.createQp({ qpType: QpType.UD, sendCq: cq, recvCq: cq, cap: { maxSendWr: 4, maxRecvWr: 16 } });
qp.activate({ qkey: QKEY });
qp.attachMcast(GROUP);
const messages = receiver(qp, { slots: 8, size: 64 });

if (role === 'member') {
  ctx.queryGid(1, 1); // from now on it receives at that address
  console.log('ready');
  const message = await messages.next();
  await message?.reply(`${message.text()} to you, too`);
} else {
  const mr = pd.allocMr(64, AccessFlags.LOCAL_WRITE);
  const ah = pd.createAh({ portNum: 1, grh: { dgid: GROUP, sgidIndex: 1 } });
  const { written: length } = new TextEncoder().encodeInto('good morning', mr.bytes);
  const to = { ah, remoteQpn: 0xffffff, remoteQkey: QKEY };
  await qp.send({ opcode: WrOpcode.SEND, ...to, sgList: [{ mr, length }] });
  const heard = [await messages.next(), await messages.next()].map((message) => message.text());
  console.log(heard.sort().join('\n'));
}
ctx.close();
