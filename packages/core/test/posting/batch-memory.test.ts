import { expect, it } from 'vitest';
import { CompletionBatch, RecvBatch, SendBatch, SendFlags, WrOpcode } from '../../src/index.js';
import { collect, collectUntil } from '../shared/collect.js';
import { bench, pair } from '../helpers/devices.js';

it('keeps the regions of its requests until they are overwritten', async () => {
  const b = bench();
  const [one, two] = pair(b);
  let collected = 0;
  const registry = new FinalizationRegistry(() => {
    collected++;
  });
  const receives = new RecvBatch(1);
  const writeAndForget = () => {
    const mr = b.pd.allocMr(4096, 1);
    registry.register(mr, undefined);
    receives.set(0, { sgList: [{ mr }] });
  };
  writeAndForget();
  for (let i = 0; i < 5; i++) await collect();
  expect(collected).toBe(0);
  two.postRecvBatch(receives);
  one.postSend({ opcode: WrOpcode.SEND, sgList: [{ mr: b.mr, length: 64 }] });
  await b.cq.wait();
  expect(b.cq.poll()).toMatchObject([{ ok: true, byteLen: 64 }]);
  receives.set(0, {});
  expect(await collectUntil(() => collected === 1)).toBe(true);
});

it('allocates nothing for a message', () => {
  const b = bench();
  const [one, two] = pair(b);
  const COUNT = 8;
  const sends = new SendBatch(COUNT);
  const receives = new RecvBatch(COUNT);
  const done = new CompletionBatch(2 * COUNT);
  for (let i = 0; i < COUNT; i++) {
    sends.set(i, { opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList: [{ mr: b.mr, length: 8 }] });
    receives.set(i, { sgList: [{ mr: b.mr, offset: 4096, length: 8 }] });
  }
  let bytes = 0;
  const exchange = (turns: number) => {
    for (let turn = 0; turn < turns; turn++) {
      for (let i = 0; i < COUNT; i++) {
        sends.setWrId(i, turn + i);
        sends.setSge(i, 0, i * 8, 8);
      }
      two.postRecvBatch(receives);
      one.postSendBatch(sends);
      for (let n = 0; n < 2 * COUNT; n += done.length) {
        b.cq.pollBatch(done);
        for (let i = 0; i < done.length; i++) if (done.ok(i)) bytes += done.byteLen(i);
      }
    }
  };
  // The first turns are the compiler's, and how long it takes is the machine's affair.
  let perMessage = Infinity;
  for (let round = 0; round < 50 && perMessage > 8; round++) {
    globalThis.gc?.();
    const before = process.memoryUsage().heapUsed;
    exchange(1000);
    perMessage = (process.memoryUsage().heapUsed - before) / (1000 * COUNT);
  }
  expect(bytes).toBeGreaterThan(0);
  // One small object for each message would be 24 or more.
  expect(perMessage).toBeLessThan(8);
}, 60_000);

it('names the index that is none', () => {
  const message = expect.stringMatching(/^index must be/) as string;
  const wrong = expect.objectContaining({ code: 'ERR_OUT_OF_RANGE', message }) as Error;
  for (const index of [3n, '0', {}, Symbol('x')]) {
    expect(() => {
      new RecvBatch(4).set(index as never, {});
    }).toThrow(wrong);
    expect(() => new CompletionBatch(4).ok(index as never)).toThrow(wrong);
  }
});

it('refuses a batch of a closed region, however many regions there were since', () => {
  const b = bench();
  const [, two] = pair(b);
  const mr = b.pd.allocMr(64, 1);
  const receives = new RecvBatch(1);
  receives.set(0, { sgList: [{ mr }] });
  mr.close();
  for (let i = 0; i < 1100; i++) {
    const other = b.pd.allocMr(64, 1);
    expect(() => {
      two.postRecvBatch(receives);
    }).toThrow('batch[0].sgList[0].mr is not of the device of this queue, or was closed');
    other.close();
  }
});
