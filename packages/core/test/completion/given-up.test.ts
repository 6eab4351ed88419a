import { beforeEach, describe, expect, it } from 'vitest';
import { type MemoryRegion, QpState, type QueuePair, type Sge, WcStatus, WrOpcode } from '../../src/index.js';
import { ALL_ACCESS, type Bench, bench, pair, take } from '../helpers/devices.js';

let b: Bench;
let one: QueuePair;
let two: QueuePair;
let mr: MemoryRegion;

beforeEach(() => {
  b = bench();
  [one, two] = pair(b);
  mr = b.pd.allocMr(4096, ALL_ACCESS);
});

/** A receive request that is given up at once. */
async function giveUp(sgList: Sge[], qp = two): Promise<void> {
  const controller = new AbortController();
  const received = qp.recv({ sgList }, { signal: controller.signal });
  controller.abort(new Error('given up'));
  await expect(received).rejects.toThrow('given up');
}

async function send(text: string): Promise<void> {
  const { written } = new TextEncoder().encodeInto(text, b.mr.bytes);
  await one.send({ opcode: WrOpcode.SEND, sgList: [{ mr: b.mr, length: written }] });
}

const text = (region: MemoryRegion, offset: number, length: number) =>
  new TextDecoder().decode(region.bytes.subarray(offset, offset + length));

describe('a receive request that was given up', () => {
  it('gives its place to the retry, which the message of the retry reaches', async () => {
    const sgList = [{ mr, length: 64 }];
    for (let i = 0; i < 5; i++) await giveUp(sgList);
    const received = two.recv({ wrId: 'x'.length, sgList });
    await send('answer');
    expect(await received).toMatchObject({ wrId: 1, byteLen: 6 });
    expect(text(mr, 0, 6)).toBe('answer');
    // Only one request was posted: the queue is empty again.
    const next = two.recv({ sgList });
    await send('more');
    expect((await next).byteLen).toBe(4);
  });

  it('gives its message to one that waits without a signal', async () => {
    const controller = new AbortController();
    const first = two.recv({ sgList: [{ mr, length: 64 }] }, { signal: controller.signal });
    const second = two.recv({ wrId: 2, sgList: [{ mr, offset: 64, length: 64 }] });
    controller.abort(new Error('given up'));
    await expect(first).rejects.toThrow('given up');
    await send('hello');
    expect(await second).toMatchObject({ wrId: 2, byteLen: 5 });
    expect(text(mr, 64, 5)).toBe('hello');
  });

  it('gives its message to a smaller one that waits, and a message that is too long to nobody', async () => {
    for (let i = 0; i < 2; i++) await giveUp([{ mr, offset: 64 * i, length: 64 }]);
    const small = [0, 1, 2].map((i) => two.recv({ wrId: i, sgList: [{ mr, offset: 1024 + 8 * i, length: 8 }] }));
    await send('much too long');
    for (const word of ['one', 'two', 'three']) await send(word);
    expect(await Promise.all(small)).toMatchObject([
      { wrId: 0, byteLen: 3 },
      { wrId: 1, byteLen: 3 },
      { wrId: 2, byteLen: 5 },
    ]);
    expect([0, 1, 2].map((i) => text(mr, 1024 + 8 * i, 5).replaceAll('\0', ''))).toEqual(['one', 'two', 'three']);
    // The long one waits for somebody with room; of the small ones one was posted without need.
    expect(await two.recv({ sgList: [{ mr, offset: 2048, length: 64 }] })).toMatchObject({ byteLen: 13 });
    expect(text(mr, 2048, 13)).toBe('much too long');
    const last = two.recv({ sgList: [{ mr, offset: 1040, length: 8 }] });
    await send('last');
    expect(await last).toMatchObject({ byteLen: 4 });
  });

  it('keeps a message that arrives before the retry', async () => {
    await giveUp([{ mr, length: 64 }]);
    await send('late');
    // A poll sees the completion, and does not give it to anybody else.
    expect(b.cq.poll()).toEqual([]);
    expect(await two.recv({ wrId: 7n, sgList: [{ mr, length: 64 }] })).toMatchObject({
      wrId: 7n,
      byteLen: 4,
      ok: true,
    });
    expect(text(mr, 0, 4)).toBe('late');
  });

  it('moves its message to the memory of the retry, which the device does not get', async () => {
    await giveUp([
      { mr, length: 4 },
      { mr, offset: 100, length: 60 },
    ]);
    const other = b.pd.allocMr(256, ALL_ACCESS);
    const received = two.recv({
      sgList: [
        { mr: other, length: 3 },
        { mr: other, offset: 10, length: 200 },
      ],
    });
    await send('elsewhere');
    expect((await received).byteLen).toBe(9);
    expect([text(other, 0, 3), text(other, 10, 6)]).toEqual(['els', 'ewhere']);
    expect(other.bytes[16]).toBe(0);
    // With a request in the queue this would arrive there.
    two.postRecv({ wrId: 3, sgList: [{ mr, offset: 1000, length: 64 }] });
    await send('third');
    expect((await take(b.cq, 1)).map(({ wrId }) => wrId)).toEqual([3]);
    expect(text(mr, 1000, 5)).toBe('third');
  });

  it('keeps its place if the retry has less room; the next one with room enough gets its message', async () => {
    await giveUp([{ mr, length: 64 }]);
    const short = two.recv({ wrId: 1, sgList: [{ mr, offset: 64, length: 8 }] });
    await send('a longer message');
    await send('short');
    expect(await short).toMatchObject({ wrId: 1, byteLen: 5 });
    expect((await two.recv({ sgList: [{ mr, offset: 128, length: 64 }] })).byteLen).toBe(16);
    expect(text(mr, 128, 16)).toBe('a longer message');
  });

  it('is taken over in the order of posting, and may be given up again', async () => {
    const controller = new AbortController();
    const several = [0, 64, 128].map((offset) =>
      two.recv({ sgList: [{ mr, offset, length: 64 }] }, { signal: controller.signal }),
    );
    controller.abort(new Error('given up'));
    for (const received of several) await expect(received).rejects.toThrow('given up');
    await giveUp([{ mr, offset: 512, length: 64 }]);
    await send('first');
    await send('second');
    const sgList = [{ mr, offset: 1024, length: 64 }];
    expect((await two.recv({ sgList })).byteLen).toBe(5);
    expect(text(mr, 1024, 5)).toBe('first');
    expect((await two.recv({ sgList })).byteLen).toBe(6);
    const third = two.recv({ sgList });
    await send('third');
    expect((await third).byteLen).toBe(5);
    expect(text(mr, 1024, 5)).toBe('third');
  });

  it('does not spare the next request its checks', async () => {
    await giveUp([{ mr, length: 64 }]);
    await expect(two.recv({ sgList: [{ mr: 1 as never }] })).rejects.toThrow(/^wr\.sgList\[0\]\.mr/);
    const closed = b.pd.allocMr(64, ALL_ACCESS);
    closed.close();
    await expect(two.recv({ sgList: [{ mr: closed }] })).rejects.toMatchObject({ code: 'ERR_VERBS_CLOSED' });
    const received = two.recv({ sgList: [{ mr, length: 64 }] });
    await send('still');
    expect((await received).byteLen).toBe(5);
  });

  it('fails the one that took it over when its queue pair fails, and is gone after a reset', async () => {
    await giveUp([{ mr, length: 64 }]);
    two.modify({ qpState: QpState.ERR });
    await expect(two.recv({ sgList: [{ mr, length: 64 }] })).rejects.toMatchObject({
      wc: { status: WcStatus.WR_FLUSH_ERR },
    });
    await giveUp([{ mr, length: 64 }]);
    two.modify({ qpState: QpState.RESET });
    await expect(two.recv({ sgList: [{ mr, length: 64 }] })).rejects.toMatchObject({ code: 'EINVAL' });
    expect(b.cq.poll()).toEqual([]);
  });

  it('of another queue pair stays there', async () => {
    await giveUp([{ mr, length: 64 }]);
    const back = one.recv({ wrId: 5, sgList: [{ mr, offset: 64, length: 64 }] });
    await send('there');
    await two.send({ opcode: WrOpcode.SEND, sgList: [{ mr: b.mr, length: 2 }] });
    expect(await back).toMatchObject({ wrId: 5, byteLen: 2 });
    expect((await two.recv({ sgList: [{ mr, length: 64 }] })).byteLen).toBe(5);
  });
});
