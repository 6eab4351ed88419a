import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import {
  AccessFlags,
  CompCntrType,
  type Context,
  openDevice,
  QpAttachCompCntrOp,
  type QpEndpoint,
  QpState,
  QpType,
  VerbsError,
  WrOpcode,
} from '../../src/index.js';

let ctx: Context;

afterEach(() => {
  ctx.close();
});

/** Two connected queue pairs of one device; `before` attaches counters. */
function connected(before: (a: ReturnType<typeof endOf>, b: ReturnType<typeof endOf>) => void = () => undefined) {
  ctx = openDevice(undefined, { library: 'soft' });
  const a = endOf();
  const b = endOf();
  before(a, b);
  a.qp.connect({ ...b.qp.endpoint() });
  b.qp.connect({ ...a.qp.endpoint() });
  return { a, b };
}

function endOf() {
  const pd = ctx.allocPd();
  const cq = ctx.createCq(64);
  const qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxSendWr: 16, maxRecvWr: 16 } });
  const mr = pd.allocMr(4096, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE);
  return { qp, mr, cq };
}

it('tells what the device can count', () => {
  ctx = openDevice(undefined, { library: 'soft' });
  const all = Object.values(QpAttachCompCntrOp).reduce<number>((sum, bit) => sum | bit, 0);
  expect(ctx.queryCompCntrCaps()).toEqual({
    maxValue: 0xffff_ffff_ffff_ffffn,
    maxCounters: 65536,
    supportedQpAttachOps: all,
  });
});

it('counts on both sides, requests and bytes, and is awaited', async () => {
  ctx = openDevice(undefined, { library: 'soft' });
  ctx.close();
  let sent!: ReturnType<Context['createCompCntr']>;
  let arrived!: typeof sent;
  const { a, b } = connected((first, second) => {
    sent = ctx.createCompCntr();
    arrived = ctx.createCompCntr({ type: CompCntrType.BYTES });
    first.qp.attachCompCntr(sent, QpAttachCompCntrOp.RDMA_WRITE);
    second.qp.attachCompCntr(arrived, QpAttachCompCntrOp.REMOTE_RDMA_WRITE);
  });
  const waiting = arrived.reach(800);
  for (let i = 0; i < 8; ++i) {
    a.qp.postSend({
      wrId: BigInt(i),
      opcode: WrOpcode.RDMA_WRITE,
      sgList: [{ mr: a.mr, length: 100 }],
      remote: b.mr.remote(),
    });
  }
  expect(await waiting).toBeGreaterThanOrEqual(800n);
  expect(await sent.reach(8n)).toBe(8n);
  expect(sent.readErrors()).toBe(0n);
  sent.set(5);
  sent.inc();
  sent.incErrors(2n);
  expect([sent.read(), sent.readErrors()]).toEqual([6n, 2n]);
  sent.setErrors(0);
  expect(sent.readErrors()).toBe(0n);
});

it('a wait ends by an error, an abort and a closed counter', async () => {
  let counter!: ReturnType<Context['createCompCntr']>;
  const { a, b } = connected((first) => {
    counter = ctx.createCompCntr();
    first.qp.attachCompCntr(counter, QpAttachCompCntrOp.RDMA_WRITE);
  });
  await expect(counter.reach(1, { signal: AbortSignal.timeout(20) })).rejects.toMatchObject({ name: 'TimeoutError' });
  const failing = counter.reach(1);
  const wrong = { ...b.mr.remote(), rkey: b.mr.rkey ^ 1 };
  a.qp.postSend({ wrId: 1n, opcode: WrOpcode.RDMA_WRITE, sgList: [{ mr: a.mr, length: 8 }], remote: wrong });
  await expect(failing).rejects.toMatchObject({ code: 'EIO', syscall: 'ibv_read_comp_cntr' });
  await expect(failing).rejects.toThrow(/1 counted requests failed/);
  const closing = counter.reach(7);
  setTimeout(() => {
    counter.close();
  }, 20);
  await expect(closing).rejects.toMatchObject({ code: 'ERR_VERBS_CLOSED' });
});

it('closes its queue pairs first, and goes with its context in any order', () => {
  ctx = openDevice(undefined, { library: 'soft' });
  const { qp } = endOf();
  const counter = ctx.createCompCntr();
  qp.attachCompCntr(counter, QpAttachCompCntrOp.SEND);
  counter.close();
  expect(qp.closed).toBe(true);
  const second = endOf();
  const older = ctx.createCompCntr();
  second.qp.attachCompCntr(older, QpAttachCompCntrOp.SEND);
  ctx.close();
  expect([second.qp.closed, older.closed]).toEqual([true, true]);
});

it('refuses what does not fit, by name', () => {
  const { a, b } = connected();
  const counter = ctx.createCompCntr();
  expect(() => {
    a.qp.attachCompCntr(counter, QpAttachCompCntrOp.SEND);
  }).toThrow(/ibv_qp_attach_comp_cntr.*attach in RESET or INIT/);
  b.qp.modify({ qpState: QpState.RESET });
  b.qp.attachCompCntr(counter, QpAttachCompCntrOp.SEND);
  const again = () => {
    b.qp.attachCompCntr(counter, QpAttachCompCntrOp.SEND);
  };
  expect(again).toThrow(VerbsError);
  expect(() => {
    b.qp.attachCompCntr({} as never, QpAttachCompCntrOp.SEND);
  }).toThrow(/counter/);
  expect(() => {
    b.qp.attachCompCntr(counter, 0);
  }).toThrow(/operations/);
  expect(() => ctx.createCompCntr({ type: 2 as never })).toThrow(/options\.type/);
  expect(() => {
    counter.set(-1);
  }).toThrow(/value/);
});

it('of another context is refused', () => {
  ctx = openDevice(undefined, { library: 'soft' });
  using other = openDevice(undefined, { library: 'soft' });
  const counter = other.createCompCntr();
  const { qp } = endOf();
  expect(() => {
    qp.attachCompCntr(counter, QpAttachCompCntrOp.SEND);
  }).toThrow(/^EINVAL.*ibv_qp_attach_comp_cntr.*of the same context/);
});

it('is awaited by many at once, each for its value, while the loop runs on', async () => {
  let counter!: ReturnType<Context['createCompCntr']>;
  const { a, b } = connected((first) => {
    counter = ctx.createCompCntr();
    first.qp.attachCompCntr(counter, QpAttachCompCntrOp.RDMA_WRITE);
  });
  const order: number[] = [];
  const waits = new Map([3, 1, 2].map((value) => [value, counter.reach(value).then(() => order.push(value))]));
  const remote = b.mr.remote();
  for (const value of [1, 2, 3]) {
    a.qp.postSend({ wrId: 0n, opcode: WrOpcode.RDMA_WRITE, sgList: [{ mr: a.mr, length: 8 }], remote });
    await waits.get(value);
    expect(order.at(-1)).toBe(value);
  }
  expect(order).toEqual([1, 2, 3]);
  // What is reached already needs no wait, and no error of before counts.
  counter.incErrors();
  expect(await counter.reach(3)).toBe(3n);
  const failed = counter.reach(4);
  counter.incErrors(2);
  await expect(failed).rejects.toThrow(/^EIO.*at 3 of 4: 2 counted requests failed/);
});

it('of the peer counts what a one-sided peer does, in another process', { timeout: 60_000 }, async () => {
  ctx = openDevice(undefined, { library: 'soft' });
  const counter = ctx.createCompCntr();
  const { qp, mr } = endOf();
  qp.attachCompCntr(counter, QpAttachCompCntrOp.REMOTE_RDMA_WRITE);
  const writer = spawn(process.execPath, [fileURLToPath(new URL('../programs/counted-writer.mjs', import.meta.url))], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface(writer.stdout)[Symbol.asyncIterator]();
  qp.connect(JSON.parse(String((await lines.next()).value)) as QpEndpoint, { access: AccessFlags.REMOTE_WRITE });
  writer.stdin.write(`${JSON.stringify({ ...qp.endpoint(), remote: mr.remote() })}\n`);
  expect(await counter.reach(100)).toBe(100n);
  expect(new TextDecoder().decode(mr.bytes.subarray(0, 7))).toBe('written');
  writer.stdin.end();
  await new Promise((resolve) => writer.once('exit', resolve));
});
