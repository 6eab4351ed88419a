// Writes a hundred times into the memory that the program on the other side of stdin names.
import { createInterface } from 'node:readline';
import { openDevice, QpType, WrOpcode } from '../../dist/index.js';

const ctx = openDevice(undefined, { library: 'soft' });
const pd = ctx.allocPd();
const cq = ctx.createCq(128, { channel: ctx.createCompChannel() });
const qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxSendWr: 128, maxRecvWr: 1 } });
const mr = pd.allocMr(64, 1);
mr.bytes.set(new TextEncoder().encode('written'));
console.log(JSON.stringify(qp.endpoint()));
for await (const line of createInterface(process.stdin)) {
  const { remote, ...endpoint } = JSON.parse(line);
  qp.connect(endpoint);
  const write = { opcode: WrOpcode.RDMA_WRITE, sgList: [{ mr, length: 7 }], remote };
  await Promise.all(Array.from({ length: 100 }, () => qp.send(write)));
}
ctx.close();
