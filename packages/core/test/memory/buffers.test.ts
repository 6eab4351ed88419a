import { MessageChannel } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { type MemoryRegion, objectCounts, type QueuePair, SendFlags, WrOpcode } from '../../src/index.js';
import { untransferableHolds } from '../../src/base/node-features.js';
import { collect, collectUntil } from '../shared/collect.js';
import { ALL_ACCESS, type Bench, bench, pair, take } from '../helpers/devices.js';

type Movable = ArrayBuffer & {
  transfer?: (length?: number) => ArrayBuffer;
  transferToFixedLength?: () => ArrayBuffer;
  resize?: (length: number) => void;
};

/** All that a program can do to take a buffer's memory away. Gives what came of it, so that it stays or goes. */
const moves: Record<string, (buffer: Movable) => unknown> = {
  'structuredClone with transfer': (buffer) => structuredClone(buffer, { transfer: [buffer] }),
  'postMessage with transfer': (buffer) => {
    const { port1, port2 } = new MessageChannel();
    try {
      port1.postMessage(buffer, [buffer]);
    } finally {
      port1.close();
      port2.close();
    }
  },
  transfer: (buffer) => buffer.transfer?.(),
  'transfer to nothing': (buffer) => buffer.transfer?.(0),
  'transfer to more': (buffer) => buffer.transfer?.(1 << 20),
  transferToFixedLength: (buffer) => buffer.transferToFixedLength?.(),
  resize: (buffer) => {
    buffer.resize?.(0);
  },
};

function attempt(move: (buffer: Movable) => unknown, buffer: ArrayBufferLike): unknown {
  try {
    return move(buffer as Movable);
  } catch (error) {
    // Refused.
    return error;
  }
}

/** Sends what `b.mr` begins with, and gives the status of the receiver's completion. */
async function deliver(b: Bench, one: QueuePair, text: string) {
  b.mr.bytes.set(Buffer.from(text));
  one.postSend({ opcode: WrOpcode.SEND, sgList: [{ mr: b.mr, length: text.length }] });
  const [wc] = await take(b.cq, 1);
  return wc;
}

/** What a peer reads there. */
async function readBack(b: Bench, one: QueuePair, mr: Pick<MemoryRegion, 'addr' | 'rkey'>, length: number) {
  one.postSend({
    opcode: WrOpcode.RDMA_READ,
    sendFlags: SendFlags.SIGNALED,
    remoteAddr: mr.addr,
    rkey: mr.rkey,
    sgList: [{ mr: b.mr, offset: 1024, length }],
  });
  const [wc] = await take(b.cq, 1);
  expect(wc?.ok).toBe(true);
  return Buffer.from(b.mr.bytes.subarray(1024, 1024 + length)).toString();
}

describe.each(Object.keys(moves))('%s, while a request is posted,', (name) => {
  const move = moves[name] ?? expect.unreachable();

  it('leaves memory of allocMr in its place', async () => {
    const b = bench();
    const [one, two] = pair(b);
    const mr = b.pd.allocMr(4096, ALL_ACCESS);
    two.postRecv({ wrId: 1, sgList: [{ mr }] });
    attempt(move, mr.buffer);
    await collect();
    expect(mr.length).toBe(4096);
    expect(await deliver(b, one, 'arrived')).toMatchObject({ wrId: 1, ok: true, byteLen: 7 });
    expect(await readBack(b, one, mr, 7)).toBe('arrived');
    // Whatever JavaScript sees of it now, the region can be used and closed.
    two.postRecv({ wrId: 2, sgList: [{ mr }] });
    expect(await deliver(b, one, 'again')).toMatchObject({ wrId: 2, ok: true, byteLen: 5 });
    mr.close();
  });

  it('leaves an ordinary buffer in its place where it can be registered', async () => {
    const b = bench();
    const bytes = new Uint8Array(4096);
    if (!untransferableHolds) {
      expect(() => b.pd.regMr(bytes, ALL_ACCESS)).toThrow(/allocMr/);
      return;
    }
    const [one, two] = pair(b);
    const mr = b.pd.regMr(bytes, ALL_ACCESS);
    two.postRecv({ wrId: 1, sgList: [{ mr }] });
    attempt(move, bytes.buffer);
    await collect();
    expect(bytes.byteLength).toBe(4096);
    expect(await deliver(b, one, 'arrived')).toMatchObject({ wrId: 1, ok: true });
    expect(Buffer.from(bytes.subarray(0, 7)).toString()).toBe('arrived');
  });

  it('does nothing to a SharedArrayBuffer', async () => {
    const b = bench();
    const [one, two] = pair(b);
    const shared = new SharedArrayBuffer(4096);
    const mr = b.pd.regMr(shared, ALL_ACCESS);
    two.postRecv({ wrId: 1, sgList: [{ mr }] });
    attempt(move, shared);
    await collect();
    expect(await deliver(b, one, 'arrived')).toMatchObject({ wrId: 1, ok: true });
    expect(Buffer.from(shared, 0, 7).toString()).toBe('arrived');
  });
});

describe('a buffer that can change its size', () => {
  it('is refused with the way out, in every form', () => {
    const { pd } = bench();
    const resizable = new (ArrayBuffer as new (length: number, options: object) => ArrayBuffer)(64, {
      maxByteLength: 128,
    });
    const growable = new (SharedArrayBuffer as new (length: number, options: object) => SharedArrayBuffer)(64, {
      maxByteLength: 128,
    });
    for (const buffer of [resizable, growable]) {
      for (const view of [buffer, new Uint8Array(buffer), new Float64Array(buffer, 8, 2), new DataView(buffer)]) {
        expect(() => pd.regMr(view, ALL_ACCESS, { unsafe: true })).toThrow(/^view is a resizable buffer.*pd\.allocMr/);
      }
    }
  });

  it('may be what a header is read from, whatever its size is by then', () => {
    const b = bench();
    const resizable = new (ArrayBuffer as new (length: number, options: object) => Movable)(64, { maxByteLength: 128 });
    const grh = new Uint8Array(resizable);
    const wc = {
      srcQp: 1,
      slid: 0,
      dlidPathBits: 0,
      pkeyIndex: 0,
      wcFlags: 1,
      get sl() {
        resizable.resize?.(8);
        return 0;
      },
    };
    expect(() => b.pd.createAhFromWc(wc, grh, 1)).toThrow(/^grh has 8 bytes, not 40/);
  });
});

describe('a buffer that becomes garbage while a request is posted', () => {
  it.each([
    ['of allocMr', (b: Bench) => b.pd.allocMr(4096, ALL_ACCESS)],
    ['shared', (b: Bench) => b.pd.regMr(new SharedArrayBuffer(4096), ALL_ACCESS)],
    ['ordinary', (b: Bench) => b.pd.regMr(new Uint8Array(4096), ALL_ACCESS, { unsafe: true })],
  ])('is held until the completion: %s', async (_, make) => {
    const b = bench();
    const [one, two] = pair(b);
    const regions = () => objectCounts()['MemoryRegion'] ?? 0;
    let objects = 0;
    let buffers = 0;
    const registry = new FinalizationRegistry((kind: string) => {
      if (kind === 'buffer') buffers++;
      else objects++;
    });
    const post = () => {
      const mr = make(b);
      registry.register(mr, 'object');
      if (!(mr.buffer instanceof SharedArrayBuffer)) registry.register(mr.buffer, 'buffer');
      two.postRecv({ wrId: 1, sgList: [{ mr }] });
      return { addr: mr.addr, rkey: mr.rkey };
    };
    const where = post();
    expect(await collectUntil(() => objects === 1)).toBe(true);
    const held = regions();
    // What the collector gave back is used again by others.
    const others = Array.from({ length: 200 }, () => new Uint8Array(4096).fill(255));
    expect(await readBack(b, one, where, 4)).toBe('\0\0\0\0');
    expect(await deliver(b, one, 'held')).toMatchObject({ wrId: 1, ok: true });
    expect(others.every((other) => other.every((byte) => byte === 255))).toBe(true);
    if (_ !== 'shared') expect(await collectUntil(() => buffers === 1)).toBe(true);
    expect(await collectUntil(() => regions() < held)).toBe(true);
    // And now it is gone, for peers too.
    one.postSend({
      opcode: WrOpcode.RDMA_READ,
      sendFlags: SendFlags.SIGNALED,
      remoteAddr: where.addr,
      rkey: where.rkey,
      sgList: [{ mr: b.mr, length: 4 }],
    });
    expect((await take(b.cq, 1))[0]?.ok).toBe(false);
  });
});
