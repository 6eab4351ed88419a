// The user FIFO as a data path.
import { runInNewContext } from 'node:vm';
import { SendFlags, WcStatus, WrOpcode } from '@verbs/core';
import { softNic } from '@verbs/soft';
import { expect, it } from 'vitest';
import {
  createCq,
  createEncap,
  createUsrFifo,
  decodeDoorbell,
  EncapType,
  encodeDoorbell,
  encodeWqe,
  modifyQp,
  queryQp,
  readCq,
  type SendWorkQueue,
  SwqGranularity,
  type UsrFifo,
  UsrFifoType,
  WqeFlags,
  WqeOpcode,
} from '../src/index.js';
import { completion, configureDevices, connect, type End, end, open, toInit } from './helpers/devices.js';

const SLOT = 8;

interface Line {
  a: End;
  b: End;
  fifo: UsrFifo;
  queue: SendWorkQueue;
  qpNum: number;
}

/** Two ends with memory for `slots` numbers, the first with a FIFO. */
function line(slots: number, { maxSendWr = 64, granularity = 0 } = {}): Line {
  configureDevices();
  const a = end(open('hbl_0', 'default'), { bytes: slots * SLOT, maxSendWr });
  const b = end(open('hbl_1', 'default'), { bytes: slots * SLOT });
  return join(a, b, granularity);
}

function join(a: End, b: End, granularity: number = SwqGranularity.GRAN_32B): Line {
  const init = { wqGranularity: granularity };
  connect(a, b, { init, rtr: { localKey: a.mr.lkey }, rts: { remoteKey: b.mr.rkey } });
  connect(b, a);
  const { sendQueue, qpNum } = queryQp(a.qp);
  if (sendQueue === undefined) throw new Error('no work queue is mapped');
  return { a, b, fifo: createUsrFifo(a.ctx, { portNum: 1 }), queue: sendQueue, qpNum };
}

const slotsOf = ({ mr }: End) => new BigUint64Array(mr.bytes.buffer, mr.bytes.byteOffset, mr.bytes.byteLength / SLOT);

const writeOf = ({ a, b }: Line, slot: number, more: object = {}) => ({
  opcode: WqeOpcode.WRITE,
  length: SLOT,
  localAddr: a.mr.addr + BigInt(slot * SLOT),
  remoteAddr: b.mr.addr + BigInt(slot * SLOT),
  ...more,
});

async function until(done: () => boolean): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!done()) {
    if (Date.now() > deadline) throw new Error('it did not happen');
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** The first four numbers at the destination, when all that was posted has arrived. */
async function arrived(l: Line): Promise<bigint[]> {
  const { qp, cq, mr } = l.a;
  qp.postSend({
    opcode: WrOpcode.RDMA_WRITE,
    sendFlags: SendFlags.SIGNALED,
    sgList: [{ mr, length: SLOT }],
    remote: l.b.mr.remote(),
    remoteOffset: 8 * SLOT,
  });
  expect((await completion(cq)).ok).toBe(true);
  return [...slotsOf(l.b).slice(0, 4)];
}

it('doorbells have index, queue pair and port in their places', () => {
  const doorbell = { index: 0x3ffffe, qpNum: 0xabcdef, portNum: 3 };
  expect(encodeDoorbell(doorbell)).toBe(0x03abcdef_003ffffen);
  expect(decodeDoorbell(0x03abcdef_ffffffffn)).toEqual({ ...doorbell, index: 0x3fffff });
  expect(decodeDoorbell(5 as never)).toEqual({ index: 5, qpNum: 0, portNum: 0 });
  expect(() => encodeDoorbell({ ...doorbell, index: 0x400000 })).toThrow(/doorbell\.index/);
});

it('a doorbell runs the entry that it announces, which completes with its tag', async () => {
  const l = line(16);
  slotsOf(l.a)[3] = 0x1122334455667788n;
  const index = l.queue.write(0, writeOf(l, 3, { flags: WqeFlags.SIGNALED, tag: 77 }));
  expect(l.fifo.push(encodeDoorbell({ index, qpNum: l.qpNum, portNum: 1 }))).toBe(1);
  expect((await completion(l.a.cq)).status).toBe(WcStatus.SUCCESS);
  expect(slotsOf(l.b)[3]).toBe(0x1122334455667788n);
  await until(() => l.fifo.ci === 1);
});

it('one doorbell may announce many entries, and a multi-stride entry many blocks', async () => {
  const l = line(1024, { granularity: SwqGranularity.GRAN_64B });
  slotsOf(l.a).forEach((_, i, all) => (all[i] = BigInt(i + 1)));
  expect(l.queue.entrySize).toBe(64);
  // Every second block of the source, close together at the destination.
  const strides = { count: 100, local: 2 * SLOT, remote: SLOT };
  l.queue.write(0, writeOf(l, 0, { strides }));
  l.queue.write(1, { opcode: WqeOpcode.NOP });
  const index = l.queue.write(2, writeOf(l, 500, { flags: WqeFlags.SIGNALED }));
  l.fifo.push({ index, qpNum: l.qpNum, portNum: 1 });
  expect((await completion(l.a.cq)).ok).toBe(true);
  expect([...slotsOf(l.b).slice(0, 101)]).toEqual([...Array.from({ length: 100 }, (_, i) => BigInt(2 * i + 1)), 0n]);
  expect(slotsOf(l.b)[500]).toBe(501n);
});

it('a multi-stride entry needs entries of 64 bytes', () => {
  const l = line(16);
  const strides = { count: 2, local: SLOT, remote: SLOT };
  expect(() => l.queue.write(0, writeOf(l, 0, { strides }))).toThrow(/^wqe\.strides needs .*GRAN_64B/);
  expect(() => l.queue.write(0, new Uint8Array(64))).toThrow(/^wqe\.byteLength must be at most 32/);
});

it.each([
  ['an entry', (l: Line) => writeOf(l, 0)],
  ['its bytes', (l: Line) => encodeWqe(writeOf(l, 0))],
])('%s that is shorter than its slot has nothing of the one before', async (_name, of) => {
  const l = line(16, { granularity: SwqGranularity.GRAN_64B });
  let doorbells = 0;
  const run = async (index: number) => {
    doorbells += l.fifo.push({ index, qpNum: l.qpNum, portNum: 1 });
    await until(() => l.fifo.ci === doorbells);
  };
  slotsOf(l.a).fill(1n);
  await run(l.queue.write(0, writeOf(l, 0, { strides: { count: 4, local: 0, remote: SLOT } })));
  expect(await arrived(l)).toEqual([1n, 1n, 1n, 1n]);
  slotsOf(l.b).fill(0n);
  // Into the same slot; the others have no operation.
  await run(l.queue.write(l.queue.entries, of(l)));
  expect(await arrived(l)).toEqual([1n, 0n, 0n, 0n]);
});

it('arrays of another realm are arrays, and one whose memory is gone is an error', async () => {
  const l = line(16);
  const other = runInNewContext('[new Uint8Array(32), new BigUint64Array(1)]') as [
    Uint8Array<ArrayBuffer>,
    BigUint64Array<ArrayBuffer>,
  ];
  expect(l.queue.write(0, other[0])).toBe(1);
  expect(l.fifo.push(other[1])).toBe(1);
  structuredClone(other[0].buffer, { transfer: [other[0].buffer, other[1].buffer] });
  expect(() => l.queue.write(0, other[0])).toThrow(/^wqe is detached/);
  expect(() => l.fifo.push(other[1])).toThrow(/^doorbells is detached/);
  await expect(l.fifo.pushAll(other[1])).rejects.toThrow(/^doorbells is detached/);
  const attr = { portNum: 1, encapType: EncapType.ENC_OVER_UDP, udpDstPort: 4789, header: other[0] };
  expect(() => createEncap(l.a.ctx, attr)).toThrow(/^attr\.header is detached/);
  expect(() => encodeWqe({ opcode: WqeOpcode.NOP }, {} as Uint8Array)).toThrow(/^into must be a Uint8Array/);
});

it('completions are in the mapped buffer without anybody polling', async () => {
  configureDevices();
  const ctx = open('hbl_0', 'default');
  const cq = createCq(ctx, 16, { portNum: 1 });
  const l = join(end(ctx, { cq }), end(open('hbl_1', 'default')));
  expect(readCq(cq)).toEqual({ producerIndex: 0, entries: [] });
  l.queue.write(0, writeOf(l, 0, { flags: WqeFlags.SIGNALED, tag: 1 }));
  const index = l.queue.write(1, writeOf(l, 1, { flags: WqeFlags.SIGNALED, tag: 2 }));
  l.fifo.push({ index, qpNum: l.qpNum, portNum: 1 });
  await until(() => readCq(cq).producerIndex === 2);
  expect(readCq(cq).entries).toMatchObject([
    { tag: 1, status: 0, qpNum: l.a.qp.qpNum },
    { tag: 2, status: 0 },
  ]);
  expect(cq.poll().map(({ ok }) => ok)).toEqual([true, true]);
});

it('doorbells that name nothing are consumed without effect, and counted by their reason', async () => {
  const l = line(16);
  const idle = end(l.a.ctx).qp;
  modifyQp(idle, toInit());
  l.fifo.push({ index: 5, qpNum: 0xfffff0, portNum: 1 });
  l.fifo.push({ index: 5, qpNum: l.qpNum, portNum: 2 });
  l.fifo.push({ index: 5, qpNum: idle.qpNum, portNum: 1 });
  await until(() => l.fifo.ci === 3);
  expect(l.a.qp.query().attr.qpState).toBe(3);
  expect(softNic('hbl_0').stats()).toMatchObject({
    doorbells_no_qp: 1n,
    doorbells_wrong_port: 1n,
    doorbells_no_work_queue: 1n,
  });
});

it('an entry that is none breaks its queue pair, and no other', async () => {
  const l = line(16);
  const other = join(end(l.a.ctx), end(l.b.ctx));
  l.queue.write(0, Uint8Array.of(99));
  l.fifo.push({ index: 1, qpNum: l.qpNum, portNum: 1 });
  await until(() => l.a.qp.query().attr.qpState === 6);
  const index = other.queue.write(0, writeOf(other, 0, { flags: WqeFlags.SIGNALED }));
  l.fifo.push({ index, qpNum: other.qpNum, portNum: 1 });
  expect((await completion(other.a.cq)).ok).toBe(true);
});

it('a FIFO of the congestion-control type consumes what it is told', async () => {
  const l = line(16);
  const cc = createUsrFifo(l.a.ctx, { portNum: 1, usrFifoType: UsrFifoType.CC });
  expect(cc.push(BigUint64Array.of(1n, 2n, 3n))).toBe(3);
  await until(() => cc.ci === 3);
  expect(cc.free).toBe(62);
});

it('takes at most 62 at once, and says so', async () => {
  const l = line(16);
  const many = new BigUint64Array(200).fill(encodeDoorbell({ index: 0, qpNum: l.qpNum, portNum: 1 }));
  const first = l.fifo.push(many);
  expect(first).toBeLessThanOrEqual(62);
  const rest = many.slice(first);
  const pushing = l.fifo.pushAll(rest);
  // The array is the program's again.
  structuredClone(rest.buffer, { transfer: [rest.buffer] });
  await pushing;
  await until(() => l.fifo.ci === 200 % 64);
  await expect(l.fifo.pushAll(1n as never)).rejects.toThrow(/^doorbells must be a BigUint64Array/);
  await expect(l.fifo.pushAll(many, { sginal: 1 } as never)).rejects.toThrow(/options\.sginal is not known/);
  await expect(l.fifo.space(1, { signal: 1 } as never)).rejects.toThrow(/options\.signal must be an AbortSignal/);
  await expect(l.fifo.space(63)).rejects.toThrow(/wanted/);
  await expect(l.fifo.space(1, { signal: AbortSignal.abort() })).rejects.toThrow(/abort/i);
});

/** Pushes `count` numbers, each by an entry and a doorbell of its own, and gives how often there was no space. */
async function stream(l: Line, count: number): Promise<number> {
  const numbers = slotsOf(l.a);
  for (let i = 0; i < count; i++) numbers[i] = BigInt(i + 1);
  const BATCH = 32;
  const doorbells = new BigUint64Array(BATCH);
  const wqe = new Uint8Array(32);
  let full = 0;
  for (let next = 0; next < count;) {
    const batch = Math.min(BATCH, count - next);
    // The entry before in the same slot has been run: its doorbell was consumed.
    if (l.fifo.free < batch) await l.fifo.space(batch);
    for (let i = 0; i < batch; i++) {
      const more = next + i + 1 === count ? { flags: WqeFlags.SIGNALED } : {};
      const index = l.queue.write(next + i, encodeWqe(writeOf(l, next + i, more), wqe));
      doorbells[i] = encodeDoorbell({ index, qpNum: l.qpNum, portNum: 1 });
    }
    for (let pushed = 0; pushed < batch;) {
      pushed += l.fifo.push(doorbells, pushed, batch - pushed);
      if (pushed === batch) break;
      full++;
      await l.fifo.space();
    }
    if (l.fifo.underPressure) full++;
    next += batch;
  }
  return full;
}

it('200,000 doorbells go through 64 entries, in order, none lost; every WRITE arrives; back-pressure is seen', async () => {
  const COUNT = 200_000;
  // Room for what is outstanding in the FIFO, and as much that is under way.
  const l = line(COUNT, { maxSendWr: 256 });
  const full = await stream(l, COUNT);
  const { ok } = await completion(l.a.cq);
  expect(ok).toBe(true);
  await until(() => l.fifo.ci === COUNT % 64);
  const arrived = slotsOf(l.b);
  let wrong = 0;
  for (let i = 0; i < COUNT; i++) if (arrived[i] !== BigInt(i + 1)) wrong++;
  expect(wrong).toBe(0);
  expect(full).toBeGreaterThan(0);
}, 300_000);

it('two FIFOs of one port do not disturb each other', async () => {
  const COUNT = 20_000;
  const l = line(COUNT, { maxSendWr: 256 });
  const other = join(end(l.a.ctx, { bytes: COUNT * SLOT, maxSendWr: 256 }), end(l.b.ctx, { bytes: COUNT * SLOT }));
  expect(other.fifo.usrFifoNum).toBe(l.fifo.usrFifoNum + 1);
  await Promise.all([stream(l, COUNT), stream(other, COUNT)]);
  expect((await completion(l.a.cq)).ok).toBe(true);
  expect((await completion(other.a.cq)).ok).toBe(true);
  for (const each of [l, other]) {
    expect(slotsOf(each.b).every((value, i) => value === BigInt(i + 1))).toBe(true);
    expect(each.fifo.ci).toBe(COUNT % 64);
  }
}, 120_000);

it('a closed FIFO cannot be used, nor one of a closed context', () => {
  const l = line(16);
  l.fifo.close();
  expect(() => l.fifo.push(0n)).toThrow(/the UsrFifo is closed/);
  const second = createUsrFifo(l.a.ctx, { portNum: 1 });
  l.a.ctx.close();
  expect(second.closed).toBe(true);
  expect(() => second.ci).toThrow(/the UsrFifo is closed/);
});

it('a queue pair that goes while doorbells for it are on their way disturbs nobody', async () => {
  const l = line(64);
  const doorbells = new BigUint64Array(62).fill(encodeDoorbell({ index: 0, qpNum: l.qpNum, portNum: 1 }));
  l.fifo.push(doorbells);
  modifyQp(l.a.qp, { qpState: 0 });
  l.fifo.push({ index: 40, qpNum: l.qpNum, portNum: 1 });
  l.a.qp.close();
  await until(() => l.fifo.free === 62);
});
