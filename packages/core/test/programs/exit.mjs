// Ends in the way that the argument says, with requests in flight. Every way must end the process by itself; with a
// second argument "worker" it is a worker's thread that ends so, and the process after it.
import { isMainThread, Worker } from 'node:worker_threads';
import { AccessFlags, openDevice, QpType, SendFlags, WrOpcode } from '../../dist/index.js';

const [ending, where] = process.argv.slice(2);
if (where === 'worker' && isMainThread) {
  const worker = new Worker(new URL(import.meta.url), { argv: [ending] });
  worker.on('error', (error) => console.error(error.message));
  worker.on('exit', (code) => (process.exitCode = code));
} else {
  await end();
}

async function end() {
  const ctx = openDevice('soft0');
  const pd = ctx.allocPd();
  const cq = ctx.createCq(64, { channel: ctx.createCompChannel() });
  const mr = pd.allocMr(1 << 20, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE);
  const make = () => pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxSendWr: 64, maxRecvWr: 8 } });
  const [one, two] = [make(), make()];
  const gid = ctx.defaultGid().gid;
  one.connect({ remote: { qpNum: two.qpNum, gid } });
  two.connect({ remote: { qpNum: one.qpNum, gid } });
  two.postRecv({ sgList: [{ mr }] });
  const { addr: remoteAddr, rkey } = mr;
  const write = { opcode: WrOpcode.RDMA_WRITE, sendFlags: SendFlags.SIGNALED, remoteAddr, rkey, sgList: [{ mr }] };
  one.postSend(Array.from({ length: 32 }, () => write));
  console.log('posted');

  switch (ending) {
    case 'return':
      // A watched channel without a waiter keeps nothing alive.
      await cq.wait();
      break;
    case 'awaited': {
      const sent = one.send(write);
      await new Promise(setImmediate);
      // The poll settles the promise, and nothing waits any more.
      for (let done = false; !done; cq.poll()) {
        void sent.then(() => (done = true));
        await undefined;
      }
      break;
    }
    case 'exit':
      process.exit(0);
      break;
    case 'unclosed':
      // Nothing waits: it ends with everything open.
      break;
    case 'awaiting':
      void two.recv({ sgList: [{ mr }] }).catch(() => undefined);
      void one.send(write).then(() => process.exit(0));
      break;
    case 'use-at-exit':
      process.on('exit', () => {
        // The addon is still whole, and what is made now is never collected.
        cq.poll(64);
        pd.allocMr(4096, AccessFlags.LOCAL_WRITE);
        one.postSend(write);
        ctx.createCompChannel().close();
      });
      break;
    case 'signal':
      process.kill(process.pid, 'SIGTERM');
      await cq.wait();
      break;
    case 'abort-listener':
      // Ends in the callback of the descriptor.
      ctx.events.on('event', () => process.exit(0));
      void cq.wait().then(() => process.exit(0));
      break;
    case 'throw':
      queueMicrotask(() => {
        throw new Error('as asked');
      });
      await cq.wait();
      break;
    case 'throw-in-wake':
      for await (const wc of cq) throw new Error(`as asked ${wc.statusText}`);
      break;
    case 'close-while-waiting':
      setImmediate(() => {
        ctx.close();
      });
      await cq.wait({ signal: undefined }).then(
        async () => {
          for await (const wc of cq) if (!wc.ok) break;
        },
        () => undefined,
      );
      break;
  }
}
