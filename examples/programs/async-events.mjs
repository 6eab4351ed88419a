// @ts-check
// Asynchronous events of a device: the port's link, its GIDs, and a queue pair that fails. On the
// software NIC this program makes it happen; on hardware it waits for it (end it with ^C).
import { AccessFlags, openDevice, QpType, SendFlags, WrOpcode } from '@verbs/core';

const ctx = openDevice();
const pd = ctx.allocPd();
const cq = ctx.createCq(8, { channel: ctx.createCompChannel() });
const cap = { maxSendWr: 1, maxRecvWr: 1 };
const qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap });
const peer = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap });
const gid = ctx.defaultGid().gid;
qp.connect({ remote: { qpNum: peer.qpNum, gid } });
peer.connect({ remote: { qpNum: qp.qpNum, gid } });

const wanted = new Set(ctx.device.library === 'soft' ? ['PORT_ERR', 'PORT_ACTIVE', 'QP_ACCESS_ERR'] : ['^C']);
if (ctx.device.library === 'soft') {
  const { softNic } = await import('@verbs/soft');
  const nic = softNic(ctx.device.name);
  nic.setLinkDown();
  nic.setLinkUp();
  // A write with a key that does not exist: the peer's queue pair fails and raises an event.
  const mr = pd.allocMr(8, AccessFlags.LOCAL_WRITE);
  const sendFlags = SendFlags.SIGNALED;
  qp.postSend({
    opcode: WrOpcode.RDMA_WRITE,
    sendFlags,
    sgList: [{ mr }],
    remoteAddr: mr.addr,
    rkey: mr.rkey ^ 0xff00,
  });
}
for await (const { name, portNum, element } of ctx.asyncEvents()) {
  const about = element === peer ? 'the peer' : element === qp ? 'the queue pair' : `port ${portNum ?? '-'}`;
  console.log(`${name}: ${about}`);
  wanted.delete(name);
  if (wanted.size === 0) break;
}
ctx.close();
