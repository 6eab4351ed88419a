import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { SendFlags, VerbsError, WrOpcode } from '../../src/index.js';
import { bench, pair } from '../helpers/devices.js';

const signaled = { opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED };

describe('poll', () => {
  it('returns none, some, and at most max', async () => {
    const b = bench();
    const [one, two] = pair(b);
    expect(b.cq.poll()).toEqual([]);
    two.postRecv([{ wrId: 1 }, { wrId: 2 }, { wrId: 3 }]);
    one.postSend([{ opcode: WrOpcode.SEND }, { opcode: WrOpcode.SEND }, { opcode: WrOpcode.SEND }]);
    await b.cq.wait();
    const list = b.cq.poll(1);
    while (list.length < 3) list.push(...b.cq.poll(3 - list.length));
    expect(list.map(({ wrId }) => wrId)).toEqual([1, 2, 3]);
    for (const max of [0, -1, NaN, '1' as never]) expect(() => b.cq.poll(max)).toThrow(RangeError);
  });
});

describe('wait', () => {
  it('sleeps until there is a completion', async () => {
    const b = bench();
    const [one, two] = pair(b);
    let woken = false;
    const waiting = b.cq.wait().then(() => (woken = true));
    await setImmediate();
    expect(woken).toBe(false);
    two.postRecv({ wrId: 1 });
    one.postSend({ opcode: WrOpcode.SEND });
    await waiting;
    expect(b.cq.poll()).toMatchObject([{ wrId: 1 }]);
  });

  it('wakes all waits, and does not consume', async () => {
    const b = bench();
    const [one, two] = pair(b);
    const all = Promise.all([b.cq.wait(), b.cq.wait(), b.cq.wait()]);
    two.postRecv({ wrId: 4 });
    one.postSend({ opcode: WrOpcode.SEND });
    await all;
    await b.cq.wait();
    expect(b.cq.poll()).toHaveLength(1);
  });

  it('is ended by a signal, before and meanwhile', async () => {
    const { cq } = bench();
    await expect(cq.wait({ signal: AbortSignal.abort(new Error('before')) })).rejects.toThrow('before');
    const stop = new AbortController();
    const waiting = cq.wait({ signal: stop.signal });
    stop.abort(new Error('meanwhile'));
    await expect(waiting).rejects.toThrow('meanwhile');
  });

  it('is ended by close', async () => {
    const { cq } = bench();
    const waiting = cq.wait();
    cq.close();
    await expect(waiting).rejects.toMatchObject({ code: 'ERR_VERBS_CLOSED' });
    await expect(cq.wait()).rejects.toThrow(VerbsError);
  });

  it('needs a channel, which queues share that are given none', async () => {
    const b = bench();
    await expect(b.ctx.createCq(8, { channel: null }).wait()).rejects.toThrow(/EINVAL.*without `channel: null`/);
    const [one, two] = [b.ctx.createCq(8), b.ctx.createCq(8)];
    expect(one.channel).toBeDefined();
    expect(two.channel).toBe(one.channel);
    const [three, four] = pair({ ...b, cq: one });
    four.postRecv({ wrId: 7 });
    await three.send({ opcode: WrOpcode.SEND });
    await one.wait();
    expect(one.poll()).toMatchObject([{ wrId: 7 }]);
    // One that was closed is replaced.
    one.channel?.close();
    expect(one.closed).toBe(true);
    expect(b.ctx.createCq(8).channel?.closed).toBe(false);
  });

  it('works for many queues of one channel', async () => {
    const b = bench();
    const other = b.ctx.createCq(16, { channel: b.channel });
    const [one] = pair(b);
    const [three, four] = pair({ ...b, cq: other });
    four.postRecv({ wrId: 7 });
    const first = b.cq.wait();
    const second = other.wait();
    three.postSend({ opcode: WrOpcode.SEND });
    await second;
    expect(other.poll()).toMatchObject([{ wrId: 7 }]);
    expect(b.cq.poll()).toEqual([]);
    one.close();
    b.cq.close();
    await expect(first).rejects.toThrow(/closed/);
  });
});

describe('the channel by hand', () => {
  it('gives the queue with the event', async () => {
    const b = bench();
    const [one, two] = pair(b);
    expect(b.channel.fd).toBeGreaterThan(2);
    expect(b.channel.getCqEvent()).toBeUndefined();
    b.cq.reqNotify();
    two.postRecv({});
    one.postSend({ opcode: WrOpcode.SEND });
    let event = b.channel.getCqEvent();
    for (; event === undefined; event = b.channel.getCqEvent()) await setImmediate();
    expect(event).toBe(b.cq);
    expect(b.cq.poll()).toHaveLength(1);
  });

  it('wakes for solicited completions only, if so asked', async () => {
    const b = bench();
    const [one, two] = pair(b);
    two.postRecv([{ wrId: 1 }, { wrId: 2 }]);
    b.cq.reqNotify(true);
    one.postSend({ opcode: WrOpcode.SEND });
    const received = b.cq.poll();
    while (received.length === 0) received.push(...b.cq.poll());
    expect(b.channel.getCqEvent()).toBeUndefined();
    one.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SOLICITED });
    let event = b.channel.getCqEvent();
    for (; event === undefined; event = b.channel.getCqEvent()) await setImmediate();
    expect(event).toBe(b.cq);
  });
});

describe('async iteration', () => {
  it('gives completions in order, and loses none to an early end', async () => {
    const b = bench();
    const [one, two] = pair(b);
    two.postRecv(Array.from({ length: 10 }, (_, wrId) => ({ wrId })));
    one.postSend(Array.from({ length: 10 }, () => ({ opcode: WrOpcode.SEND })));
    const seen: unknown[] = [];
    for await (const { wrId } of b.cq) {
      seen.push(wrId);
      if (seen.length === 3) break;
    }
    for await (const { wrId } of b.cq) {
      seen.push(wrId);
      if (seen.length === 10) break;
    }
    expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('ends when the queue is closed', async () => {
    const b = bench();
    const seen: unknown[] = [];
    const done = (async () => {
      for await (const wc of b.cq) seen.push(wc);
    })();
    await setImmediate();
    b.ctx.close();
    await done;
    expect(seen).toEqual([]);
  });

  it('lets other callbacks run while completions keep coming', async () => {
    const b = bench();
    const [one, two] = pair(b);
    const refill = () => {
      two.postRecv({});
      one.postSend(signaled);
    };
    refill();
    let turns = 0;
    const ticker = setInterval(() => turns++, 0);
    let count = 0;
    for await (const wc of b.cq) {
      expect(wc.ok).toBe(true);
      if (wc.opcodeName === 'SEND') continue;
      if (++count === 2000) break;
      refill();
    }
    clearInterval(ticker);
    expect(turns).toBeGreaterThan(0);
  });
});
