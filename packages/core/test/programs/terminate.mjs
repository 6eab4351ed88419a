// Workers that are ended by terminate() in the middle of whatever they do, many at a time, again and again. Each tells
// when it is at work. The arguments are the rounds and a seed for the moments.
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import {
  AccessFlags,
  CompletionBatch,
  openDevice,
  QpState,
  QpType,
  RecvBatch,
  SendBatch,
  SendFlags,
  WrOpcode,
} from '../../dist/index.js';

const activities = ['poll', 'await', 'iterate', 'batches', 'events', 'create', 'throw', 'rebuild'];

if (isMainThread) {
  const [rounds, seed] = process.argv.slice(2).map(Number);
  let state = seed;
  const random = (limit) => (state = (state * 1103515245 + 12345) % 2 ** 31) % limit;
  const codes = [];
  for (let round = 0; round < rounds; round++) {
    const workers = activities.map((activity) => new Worker(new URL(import.meta.url), { workerData: activity }));
    codes.push(
      ...(await Promise.all(
        workers.map(async (worker) => {
          await once(worker, 'message');
          await setTimeout(random(40));
          return worker.terminate();
        }),
      )),
    );
  }
  const ctx = openDevice('soft0');
  console.log(
    JSON.stringify({ ended: codes.length, other: codes.filter((code) => code !== 1), here: ctx.defaultGid().gid }),
  );
  ctx.close();
} else {
  const ctx = openDevice('soft0');
  const pd = ctx.allocPd();
  const channel = ctx.createCompChannel();
  const cq = ctx.createCq(64, { channel });
  const mr = pd.allocMr(65536, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE);
  const make = () => pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxSendWr: 16, maxRecvWr: 16 } });
  const [one, two] = [make(), make()];
  const gid = ctx.defaultGid().gid;
  one.connect({ remote: { qpNum: two.qpNum, gid }, access: AccessFlags.REMOTE_WRITE });
  two.connect({ remote: { qpNum: one.qpNum, gid }, access: AccessFlags.REMOTE_WRITE });
  const sgList = [{ mr, length: 4096 }];
  const write = {
    opcode: WrOpcode.RDMA_WRITE,
    sendFlags: SendFlags.SIGNALED,
    remoteAddr: mr.addr + 8192n,
    rkey: mr.rkey,
    sgList,
  };

  const work = {
    poll() {
      for (;;) {
        one.postSend(write);
        while (cq.poll().length === 0);
      }
    },
    async await() {
      for (;;) await Promise.all([two.recv({ sgList }), one.send({ opcode: WrOpcode.SEND, sgList })]);
    },
    async iterate() {
      one.postSend(write);
      for await (const wc of cq) if (wc.ok) one.postSend(write);
    },
    batches() {
      const [sends, receives, done] = [new SendBatch(8), new RecvBatch(8), new CompletionBatch(16)];
      for (let i = 0; i < 8; i++) {
        sends.set(i, { opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList: [{ mr, length: 64 }] });
        receives.set(i, { sgList });
      }
      for (;;) {
        two.postRecvBatch(receives);
        one.postSendBatch(sends);
        for (let count = 0; count < 16;) count += cq.pollBatch(done);
      }
    },
    async events() {
      ctx.events.on('event', () => {
        two.modify({ qpState: QpState.RESET });
      });
      // Each makes an event, when the last request of a shared queue is gone.
      const srq = pd.createSrq({ maxWr: 16 });
      for (;;) {
        const cap = { maxSendWr: 1, maxRecvWr: 0 };
        const qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, srq, cap });
        qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: 0 });
        qp.modify({ qpState: QpState.ERR });
        await new Promise((resolve) => ctx.events.once('event', resolve));
        qp.close();
      }
    },
    create() {
      for (;;) {
        pd.allocMr(4096, AccessFlags.LOCAL_WRITE);
        pd.createAh({ portNum: 1, grh: { dgid: gid } });
        make().close();
        ctx.createCq(16, { channel }).close();
      }
    },
    // What the addon throws, and what it makes errors of.
    throw() {
      for (;;) {
        try {
          const qp = make();
          const closes = {
            get opcode() {
              qp.close();
              return WrOpcode.SEND;
            },
          };
          qp.postSend(closes);
        } catch {
          // As it should be.
        }
        try {
          pd.createAh({ portNum: 200, grh: { dgid: gid } });
        } catch {
          // As it should be.
        }
      }
    },
    rebuild() {
      for (;;) openDevice('soft0').allocPd().allocMr(4096, 1);
    },
  };
  parentPort.postMessage('ready');
  await work[workerData]();
}
