import { describe, expect, it } from 'vitest';
import { VerbsError, WrOpcode } from '../../src/index.js';
import { Spin } from '../../src/completion/spin.js';
import { bench, createQp, pair } from '../helpers/devices.js';

/** A spin of 50 µs whose clock the test moves. */
function clocked(microseconds = 50) {
  const clock = { time: 100 };
  return { clock, spin: new Spin(microseconds, () => clock.time) };
}

/** The number of waits that do not spin, before one does. */
function skipped(spin: Spin): number {
  let waits = 0;
  while (!spin.begins()) waits++;
  return waits;
}

describe('Spin', () => {
  it('lasts as long as it was told', () => {
    const { clock, spin } = clocked();
    expect(spin.begins()).toBe(true);
    clock.time += 0.049;
    expect(spin.goesOn()).toBe(true);
    clock.time += 0.002;
    expect(spin.goesOn()).toBe(false);
  });

  it('pauses longer after each time in vain, up to 63 waits, until one succeeds', () => {
    const { clock, spin } = clocked();
    const pauses = Array.from({ length: 8 }, () => {
      const waits = skipped(spin);
      clock.time += 1;
      expect(spin.goesOn()).toBe(false);
      return waits;
    });
    expect(pauses).toEqual([0, 1, 3, 7, 15, 31, 63, 63]);
    expect(skipped(spin)).toBe(63);
    spin.succeeds();
    expect(spin.begins()).toBe(true);
    clock.time += 1;
    expect(spin.goesOn()).toBe(false);
    expect(skipped(spin)).toBe(1);
  });

  it('of 0 never begins', () => {
    const { spin } = clocked(0);
    for (let i = 0; i < 2000; i++) expect(spin.begins()).toBe(false);
  });
});

describe('the option spin', () => {
  it.each([
    [-1, RangeError],
    [10_001, RangeError],
    [0.5, RangeError],
    ['50', TypeError],
  ])('rejects %s', (spin, error) => {
    const { ctx } = bench();
    expect(() => ctx.createCq(1, { spin: spin as number })).toThrow(error);
    expect(() => ctx.createCq(1, { spin: spin as number })).toThrow('options.spin');
  });

  // Of the longest one each wait is a spin; of 0 each one sleeps.
  it.each([0, 10_000])('of %s: requests and waits find their completions', async (spin) => {
    const b = bench();
    const cq = b.ctx.createCq(16, { spin });
    const [one, two] = pair({ ...b, cq });
    const sgList = [{ mr: b.mr, length: 8 }];
    for (let i = 0; i < 50; i++) {
      const received = two.recv({ wrId: i, sgList });
      await one.send({ opcode: WrOpcode.SEND, sgList });
      expect((await received).wrId).toBe(i);
      two.postRecv({ wrId: 1000 + i, sgList });
      one.postSend({ opcode: WrOpcode.SEND, sgList });
      await cq.wait();
      expect(cq.poll().map(({ wrId }) => wrId)).toEqual([1000 + i]);
    }
  });

  it.each([0, 10_000])('of %s: the event loop runs on meanwhile, and a signal or close ends the wait', async (spin) => {
    const { ctx } = bench();
    const cq = ctx.createCq(16, { spin });
    const controller = new AbortController();
    setImmediate(() => {
      controller.abort(new Error('enough'));
    });
    await expect(cq.wait({ signal: controller.signal })).rejects.toThrow('enough');
    setImmediate(() => {
      cq.close();
    });
    const closed = expect.objectContaining({ code: 'ERR_VERBS_CLOSED', syscall: 'ibv_get_cq_event' }) as unknown;
    await expect(cq.wait()).rejects.toEqual(closed);
  });

  // Others run between the end of the spinning and the sleep.
  it('that was in vain: a signal or close ends the wait at that very moment', async () => {
    const { ctx } = bench();
    const controller = new AbortController();
    void Promise.resolve().then(() => {
      controller.abort(new Error('enough'));
    });
    await expect(ctx.createCq(16, { spin: 1 }).wait({ signal: controller.signal })).rejects.toThrow('enough');
    const cq = ctx.createCq(16, { spin: 1 });
    void Promise.resolve().then(() => {
      cq.close();
    });
    await expect(cq.wait()).rejects.toMatchObject({ code: 'ERR_VERBS_CLOSED' });
  });

  it('lets a request fail that is closed while it is polled for', async () => {
    const b = bench();
    const cq = b.ctx.createCq(16, { spin: 10_000 });
    const qp = createQp({ ...b, cq });
    qp.init();
    const received = qp.recv({ sgList: [{ mr: b.mr, length: 8 }] });
    setImmediate(() => {
      cq.close();
    });
    await expect(received).rejects.toBeInstanceOf(VerbsError);
  });
});
