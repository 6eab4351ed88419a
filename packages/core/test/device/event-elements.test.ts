import { softNic } from '@verbs/soft';
import { expect, it } from 'vitest';
import { type AsyncEvent, type Context, EventType, QpState, QpType, SendFlags, WrOpcode } from '../../src/index.js';
import { ALL_ACCESS, type Bench, bench, createQp, open, pair } from '../helpers/devices.js';

/** The next event of that name; others may come before it. */
async function next(ctx: Context, wanted: keyof typeof EventType): Promise<AsyncEvent> {
  for await (const event of ctx.asyncEvents({ signal: AbortSignal.timeout(20_000) })) {
    if (event.name === wanted) return event;
  }
  throw new Error('the device was closed');
}
const remote = ({ mr }: Bench) => ({
  ...{ sendFlags: SendFlags.SIGNALED, sgList: [{ mr, length: 8 }], remoteAddr: mr.addr, rkey: mr.rkey },
});

it('a completion queue that overflows: CQ_ERR', async () => {
  const b = bench();
  const cq = b.ctx.createCq(1);
  const [qp] = pair({ ...b, cq }, { maxSendWr: 64, maxRecvWr: 64, maxSendSge: 1, maxRecvSge: 1 });
  qp.modify({ qpState: QpState.ERR });
  for (let count = 0; count <= cq.cqe; count++) qp.postSend({ opcode: WrOpcode.RDMA_WRITE, ...remote(b) });
  expect(await next(b.ctx, 'CQ_ERR')).toEqual({ type: EventType.CQ_ERR, name: 'CQ_ERR', element: cq });
});

it('a queue pair that is asked for what is not allowed, or not possible: QP_ACCESS_ERR, QP_REQ_ERR', async () => {
  const b = bench();
  const [one, two] = pair(b);
  one.postSend({ opcode: WrOpcode.RDMA_READ, ...remote(b), rkey: b.mr.rkey ^ 0xff00 });
  expect(await next(b.ctx, 'QP_ACCESS_ERR')).toMatchObject({ type: EventType.QP_ACCESS_ERR, element: two });
  const [three, four] = pair(b);
  // Atomics are for aligned words.
  three.postSend({ opcode: WrOpcode.ATOMIC_FETCH_AND_ADD, add: 1n, ...remote(b), remoteAddr: b.mr.addr + 1n });
  expect(await next(b.ctx, 'QP_REQ_ERR')).toMatchObject({ type: EventType.QP_REQ_ERR, element: four });
});

it('a queue pair that has sent what it had, and one that hears of its peer before it is ready: SQ_DRAINED, COMM_EST', async () => {
  const b = bench();
  const [one] = pair(b);
  one.modify({ qpState: QpState.SQD, enSqdAsyncNotify: 1 });
  expect(await next(b.ctx, 'SQ_DRAINED')).toMatchObject({ type: EventType.SQ_DRAINED, element: one });

  const [three, four] = [createQp(b), createQp(b)];
  const gid = b.ctx.defaultGid().gid;
  three.connect({ remote: { qpNum: four.qpNum, gid } });
  four.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: ALL_ACCESS });
  four.modify({
    ...{ qpState: QpState.RTR, pathMtu: 3, destQpNum: three.qpNum, rqPsn: 0, maxDestRdAtomic: 1, minRnrTimer: 12 },
    ahAttr: { portNum: 1, grh: { dgid: gid } },
  });
  three.postSend({ opcode: WrOpcode.RDMA_WRITE, ...remote(b) });
  expect(await next(b.ctx, 'COMM_EST')).toMatchObject({ type: EventType.COMM_EST, element: four });
});

it('a shared receive queue that runs low, and the last request of its queue pair: SRQ_LIMIT_REACHED, QP_LAST_WQE_REACHED', async () => {
  const b = bench();
  const srq = b.pd.createSrq({ maxWr: 8 });
  const cap = { maxSendWr: 4, maxRecvWr: 0 };
  const qp = b.pd.createQp({ qpType: QpType.RC, sendCq: b.cq, recvCq: b.cq, srq, cap });
  qp.connect({ remote: { qpNum: qp.qpNum, gid: b.ctx.defaultGid().gid } });
  srq.postRecv([{ sgList: [{ mr: b.mr }] }, { sgList: [{ mr: b.mr }] }]);
  srq.modify({ srqLimit: 2 });
  qp.postSend({ opcode: WrOpcode.SEND, sgList: [{ mr: b.mr, length: 8 }] });
  expect(await next(b.ctx, 'SRQ_LIMIT_REACHED')).toMatchObject({ type: EventType.SRQ_LIMIT_REACHED, element: srq });
  qp.modify({ qpState: QpState.ERR });
  expect(await next(b.ctx, 'QP_LAST_WQE_REACHED')).toMatchObject({ type: EventType.QP_LAST_WQE_REACHED, element: qp });
});

it('an address that comes, and the end of the device itself: GID_CHANGE; iterations end with it', async () => {
  const ctx = open();
  const heard: string[] = [];
  const all = (async () => {
    for await (const { name, portNum } of ctx.asyncEvents()) heard.push(`${name} ${portNum ?? ''}`);
  })();
  const nic = softNic('soft0');
  const listener = new Promise<AsyncEvent>((resolve) => ctx.events.once('GID_CHANGE', resolve));
  nic.addGid('127.77.0.9');
  expect(await listener).toEqual({ type: EventType.GID_CHANGE, name: 'GID_CHANGE', portNum: 1 });
  nic.removeGid('127.77.0.9');
  const again = new Promise((resolve) => ctx.events.once('GID_CHANGE', resolve));
  await again;
  await new Promise((resolve) => setImmediate(resolve));
  ctx.close();
  await all;
  expect(heard).toEqual(['GID_CHANGE 1', 'GID_CHANGE 1']);
});
