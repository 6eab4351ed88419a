// Lets objects be collected that work for others, or closes them (argument "close").
import { AccessFlags, openDevice, QpType } from '../../dist/index.js';

const close = process.argv[2] === 'close';
const ctx = openDevice('soft0');
const pd = ctx.allocPd();
const cq = ctx.createCq(16, { channel: null });

function makeAndForget() {
  const make = () => pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxSendWr: 1, maxRecvWr: 1 } });
  const [one, two, idle] = [make(), make(), make()];
  one.connect(two.endpoint());
  two.connect(one.endpoint());
  const open = pd.allocMr(4096, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ);
  const own = pd.allocMr(4096, AccessFlags.LOCAL_WRITE);
  if (close) for (const each of [one, two, idle, open, own]) each.close();
}

makeAndForget();
for (let i = 0; i < 20; i++) {
  globalThis.gc();
  await new Promise((resolve) => setTimeout(resolve, 5));
}
ctx.close();
