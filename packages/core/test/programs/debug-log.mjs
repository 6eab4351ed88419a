// Causes one line of each kind that NODE_DEBUG=verbs writes.
import { softNic } from '@verbs/soft';
import { setImmediate } from 'node:timers/promises';
import { openDevice, QpState, QpType, SendFlags, WrOpcode } from '../../dist/index.js';

const ctx = openDevice('soft0');
const pd = ctx.allocPd();
const mr = pd.allocMr(4096, 3);
const cq = ctx.createCq(16, { channel: null });
const qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxSendWr: 4, maxRecvWr: 4 } });
const wr = {
  ...{ opcode: WrOpcode.RDMA_WRITE, wrId: 7, sendFlags: SendFlags.SIGNALED, sgList: [{ mr, length: 8 }] },
  ...{ remoteAddr: mr.addr, rkey: mr.rkey ^ 0xff00 },
};
try {
  qp.postSend(wr);
} catch {
  // It is not ready.
}
qp.connect({ remote: { qpNum: qp.qpNum, gid: ctx.defaultGid().gid } });
qp.postSend(wr);
while (cq.poll().length === 0) await setImmediate();
softNic('soft0').setLinkDown();
for await (const { name } of ctx.asyncEvents()) if (name === 'PORT_ERR') break;
mr.close();
ctx.close();
(() => {
  openDevice('soft0');
})();
for (let i = 0; i < 20; i++) {
  globalThis.gc();
  await setImmediate();
}
if (qp.closed && QpState.ERR === 6) console.log('done');
