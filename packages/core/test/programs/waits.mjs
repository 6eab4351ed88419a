// Waits in each way there is: for what comes long after the polling has ended, for nothing, and in a thread that is ended.
import { isMainThread, parentPort, Worker } from 'node:worker_threads';

// The argument is the package's entry. A thread gets it from the program.
const entry = process.argv[2] ?? '../../dist/index.js';
const { AccessFlags, openDevice, QpType, SendFlags, WrOpcode } = await import(entry);

const ctx = openDevice();
const pd = ctx.allocPd();
const cq = ctx.createCq(16);

if (isMainThread) {
  const mr = pd.allocMr(64, AccessFlags.LOCAL_WRITE);
  const attr = { qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxSendWr: 4, maxRecvWr: 4 } };
  const [one, two] = [pd.createQp(attr), pd.createQp(attr)];
  one.connect(two.endpoint());
  two.connect(one.endpoint());
  setTimeout(() => {
    two.postRecv({ wrId: 1, sgList: [{ mr, offset: 32, length: 32 }] });
    one.postSend({ wrId: 2, opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList: [{ mr, length: 32 }] });
  }, 200);
  let count = 0;
  for await (const { ok } of cq) if (!ok || ++count === 2) break;
  console.log(`${count} completions`);

  await cq.wait({ signal: AbortSignal.timeout(100) }).catch(({ name }) => {
    console.log(name);
  });

  const thread = new Worker(new URL(import.meta.url), { argv: process.argv.slice(2) });
  await new Promise((resolve) => {
    thread.once('message', resolve);
  });
  await thread.terminate();
  console.log('thread ended');
  // The context stays open: nothing waits for its events, so the program ends.
} else {
  setTimeout(() => parentPort?.postMessage('waits'), 100);
  await cq.wait();
}
