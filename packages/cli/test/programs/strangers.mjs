// Two hosts that have not agreed on anything. `hear`: has its device at the address of its host, until its input ends.
// `send ADDRESS`: packets to it, of a software NIC and of something else, three of each.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { AccessFlags, openDevice, QpType, WrOpcode } from '@verbs/core';

const [role, address] = process.argv.slice(2);
const context = openDevice('soft0');
const pd = context.allocPd();
const cq = context.createCq(4);
const qp = pd.createQp({ qpType: QpType.UD, sendCq: cq, recvCq: cq, cap: { maxSendWr: 2, maxRecvWr: 2 } });
qp.activate({ qkey: 1 });
const { gid, index } = context.gidTable(1).find((entry) => entry.gid.startsWith('::ffff:10.'));
/** An address is bound when its GID is used. */
const ah = pd.createAh({ portNum: 1, grh: { dgid: role === 'hear' ? gid : `::ffff:${address}`, sgidIndex: index } });
if (role === 'hear') {
  console.log('hears');
  await once(process.stdin.resume(), 'end');
} else {
  const mr = pd.allocMr(64, AccessFlags.LOCAL_WRITE);
  for (let i = 0; i < 3; i++)
    await qp.send({ opcode: WrOpcode.SEND, sgList: [{ mr }], ah, remoteQpn: 0x7777, remoteQkey: 1 });
  const socket = createSocket('udp4');
  socket.bind(5555, '0.0.0.0');
  await once(socket, 'listening');
  for (let i = 0; i < 3; i++) await new Promise((resolve) => socket.send(Buffer.alloc(60), 4791, address, resolve));
  socket.close();
}
context.close();
