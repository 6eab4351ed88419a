// Mistakes with addresses, one after the other, and their errors. Argument: the address of another host, which entry 1 reaches.
import { once } from 'node:events';
import dgram from 'node:dgram';
import { openDevice, QpType } from '@verbs/core';

const gid = `::ffff:${process.argv[2]}`;
const context = openDevice('soft0');
const pd = context.allocPd();
const cq = context.createCq(4);
const messageOf = (call) => {
  try {
    call();
    return 'no error';
  } catch (error) {
    return error.message;
  }
};
const connect = (sgidIndex) => {
  const qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxSendWr: 1, maxRecvWr: 1 } });
  return messageOf(() => qp.connect({ remote: { qpNum: 17, gid }, sgidIndex }));
};
const ah = (sgidIndex) => messageOf(() => pd.createAh({ portNum: 1, grh: { dgid: gid, sgidIndex } }));

console.log(connect(0));
console.log(ah(0));
const other = dgram.createSocket('udp4').bind(4791, context.gidTable(1)[1].gid.replace('::ffff:', ''));
await once(other, 'listening');
console.log(connect(1));
other.close();
console.log(connect(1));
context.close();
