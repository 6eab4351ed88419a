// A datagram with a wrong Q_Key, and an RDMA WRITE into a region that does not allow it, between queue pairs of one process.
import { AccessFlags, openDevice, QpType, WrOpcode } from '@verbs/core';

const ctx = openDevice();
const pd = ctx.allocPd();
const cq = ctx.createCq(16);
const made = (qpType) =>
  [1, 2].map(() => pd.createQp({ qpType, sendCq: cq, recvCq: cq, cap: { maxSendWr: 4, maxRecvWr: 4 } }));
const from = pd.allocMr(4096, AccessFlags.LOCAL_WRITE);
const to = pd.allocMr(4096, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ);

const [client, service] = made(QpType.UD);
client.activate({ qkey: 0x1111 });
service.activate({ qkey: 0x2222 });
const ah = pd.createAh({ portNum: 1, grh: { dgid: ctx.defaultGid(1).gid, hopLimit: 64 } });
const datagram = { opcode: WrOpcode.SEND, ah, remoteQpn: service.qpNum, sgList: [{ mr: from, length: 10 }] };
await client.send({ ...datagram, remoteQkey: 0x1111 });

const [one, two] = made(QpType.RC);
one.connect(two.endpoint());
two.connect(one.endpoint());
const write = { opcode: WrOpcode.RDMA_WRITE, sgList: [{ mr: from, length: 100 }], remote: to.remote() };
await one.send(write).catch((error) => console.log(error.code));
ctx.close();
