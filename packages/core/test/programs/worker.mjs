// A context for each of four workers, with traffic, ended in different ways: in order, in mid-flight, and by terminate().
import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { AccessFlags, openDevice, QpType, SendFlags, WrOpcode } from '../../dist/index.js';

if (isMainThread) {
  const workers = ['close', 'forget', 'wait', 'wait'].map(
    (ending) => new Worker(new URL(import.meta.url), { workerData: ending }),
  );
  const exits = workers.map((worker) => once(worker, 'exit'));
  const ready = await Promise.all(workers.map((worker) => once(worker, 'message')));
  const codes = await Promise.all(
    workers.map(async (worker, index) => {
      if (index >= 2) return (await worker.terminate()) === 1;
      const [code] = await exits[index];
      return code === 0;
    }),
  );
  const ctx = openDevice('soft0');
  console.log(JSON.stringify({ ready: ready.flat(), codes, here: ctx.queryDevice().physPortCnt }));
} else {
  const ctx = openDevice('soft0');
  const pd = ctx.allocPd();
  const cq = ctx.createCq(64, { channel: ctx.createCompChannel() });
  const mr = pd.allocMr(8192, AccessFlags.LOCAL_WRITE);
  const make = () => pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxSendWr: 8, maxRecvWr: 8 } });
  const [one, two] = [make(), make()];
  const gid = ctx.defaultGid().gid;
  one.connect({ remote: { qpNum: two.qpNum, gid } });
  two.connect({ remote: { qpNum: one.qpNum, gid } });
  two.postRecv([{ sgList: [{ mr, offset: 4096 }] }, { sgList: [{ mr }] }]);
  mr.bytes[0] = 42;
  one.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList: [{ mr, length: 64 }] });
  for (let count = 0; count < 2;) {
    await cq.wait();
    count += cq.poll().length;
  }
  parentPort.postMessage(mr.bytes[4096]);
  if (workerData === 'close') ctx.close();
  // The others leave with a posted receive and everything open; two of them while they wait.
  if (workerData === 'wait') await cq.wait();
}
