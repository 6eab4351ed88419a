import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { CompletionBatch, SendFlags, WrOpcode } from '../../src/index.js';
import { type Bench, bench, pair } from '../helpers/devices.js';

const { RDMA_WRITE } = WrOpcode;

function writing(b: Bench) {
  const [one] = pair(b);
  const write = { opcode: RDMA_WRITE, sgList: [{ mr: b.mr, length: 8 }], remoteAddr: b.mr.addr, rkey: b.mr.rkey };
  return { one, write, signaled: { ...write, sendFlags: SendFlags.SIGNALED } };
}

/** Repeats a step that always finds something at once, until a timer has run. */
async function untilATimerRan(step: () => Promise<unknown>): Promise<void> {
  const timer = new AbortController();
  void setTimeout(1).then(() => {
    timer.abort();
  });
  const end = Date.now() + 20_000;
  while (!timer.signal.aborted && Date.now() < end) await step();
  expect(timer.signal.aborted).toBe(true);
}

describe('other callbacks of the event loop run', () => {
  it('while wait() always finds something', async () => {
    const b = bench();
    const { one, signaled } = writing(b);
    await untilATimerRan(async () => {
      one.postSend(signaled);
      await b.cq.wait();
      b.cq.poll();
    });
  });

  it('while the completions that wait() found are not polled', async () => {
    const b = bench();
    const { one, signaled } = writing(b);
    one.postSend(signaled);
    await untilATimerRan(() => b.cq.wait());
  });

  it('while awaited requests complete at once', async () => {
    const b = bench();
    const { one, write } = writing(b);
    await untilATimerRan(() => one.send(write));
  });
});

describe('what wait() found', () => {
  it('is handed out before the library is asked again, and by hand nothing is missed', async () => {
    const b = bench();
    const { one, signaled } = writing(b);
    const batch = new CompletionBatch(16);
    for (const poll of [() => b.cq.poll(16).length, () => b.cq.pollBatch(batch)]) {
      one.postSend(signaled);
      await b.cq.wait();
      one.postSend(signaled);
      expect(poll()).toBe(1);
      for (let more = 0; more < 1; more += poll());
      one.postSend(signaled);
      await b.cq.wait();
      one.postSend([signaled, signaled]);
      // Arm, then poll: what is there already makes no event.
      b.cq.reqNotify();
      for (let left = 3; left > 0; left -= poll());
    }
  });

  it('wakes by an event that the program takes itself', async () => {
    const b = bench();
    const { one, write } = writing(b);
    // The loop leaves no turn to poll in; the second time the queue is armed before it.
    for (let time = 0; time < 2; time++) {
      const woken = b.cq.wait();
      one.postSend({ ...write, sendFlags: SendFlags.SIGNALED });
      while (b.channel.getCqEvent() !== b.cq);
      await woken;
      expect(b.cq.poll()).toHaveLength(1);
    }
  });

  it('settles awaited requests by an event that the program takes itself', async () => {
    const b = bench();
    const { one, write } = writing(b);
    for (let time = 0; time < 2; time++) {
      const sent = one.send(write);
      while (b.channel.getCqEvent() !== b.cq);
      expect((await sent).ok).toBe(true);
    }
  });

  it('is an event for the program, too, if it came before the first look for events', async () => {
    const b = bench();
    const cq = b.ctx.createCq(16, { channel: b.channel });
    const other = b.ctx.createCq(16, { channel: null });
    const [one, two] = pair({ ...b, cq: other }, undefined, cq);
    const sgList = [{ mr: b.mr, length: 8 }];
    two.postRecv({ sgList });
    const woken = cq.wait();
    one.postSend({ opcode: WrOpcode.SEND, sgList, sendFlags: SendFlags.SIGNALED });
    // Acknowledged: so it has arrived.
    while (other.poll().length === 0);
    while (b.channel.getCqEvent() !== cq);
    await woken;
    expect(cq.poll()).toHaveLength(1);
  });
});
