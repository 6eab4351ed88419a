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
    // It sleeps at once: the loop below leaves no turn to spin in.
    const cq = b.ctx.createCq(16, { channel: b.channel, spin: 0 });
    const { one, write } = writing({ ...b, cq });
    const woken = cq.wait();
    one.postSend({ ...write, sendFlags: SendFlags.SIGNALED });
    while (b.channel.getCqEvent() === undefined);
    await woken;
    expect(cq.poll()).toHaveLength(1);
  });
});
