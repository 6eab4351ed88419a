import { expect, it } from 'vitest';
import { native } from '../../src/base/native.js';
import { kHandle } from '../../src/base/symbols.js';
import { bench } from '../helpers/devices.js';
import { callNatively } from '../shared/native-calls.js';

it.each([1, 2, 3])(
  'every function of the addon survives arguments that no caller should have, seed %i',
  async (seed) => {
    const addon = new URL('../../native/binding/build/Release/verbs_core.node', import.meta.url);
    const tour = new URL('../programs/native-tour.mjs', import.meta.url);
    const ended = await callNatively({ addon, tour, seed, calls: 4000, env: { VERBS_SOFT: 'soft0;soft1' } });
    expect(ended.failure).toBeUndefined();
    expect(ended.strange).toEqual([]);
    expect(ended.returned).toBeGreaterThan(400);
    expect(ended.thrown).toBeGreaterThan(400);
  },
  120_000,
);

it('what a call uses cannot be closed by a getter of its arguments', () => {
  const { ctx, pd } = bench();
  const refused: unknown[] = [];
  const limits = {
    maxWr: 4,
    get maxSge() {
      refused.push(native.close(pd[kHandle]));
      return 1;
    },
    srqLimit: 0,
    srqType: 0,
    maxTags: 0,
    maxOps: 0,
  };
  expect(native.createSrq(pd[kHandle], limits, undefined, undefined)).toMatchObject({ maxSge: 1 });
  const extended = {
    wcFlags: 0n,
    get flags() {
      refused.push(native.close(ctx[kHandle]));
      return 0;
    },
  };
  expect(native.createCq(ctx[kHandle], 8, undefined, 0, extended)).toMatchObject({ cqe: 8 });
  // EBUSY, each time that a getter was read.
  expect(refused).toEqual(
    refused.map((_, i) => ({ errno: 16, syscall: i === 0 ? 'ibv_dealloc_pd' : 'ibv_close_device' })),
  );
  expect(native.isOpen(ctx[kHandle])).toBe(true);
  ctx.close();
});

it('a work queue that a getter of the list of queues has closed is refused', () => {
  const { ctx, pd, cq } = bench();
  const [first, second] = [1, 2].map(() => pd.createWq({ cq, maxWr: 4 })[kHandle]);
  const list = [first];
  Object.defineProperty(list, 1, {
    get: () => {
      native.close(first as never);
      return second;
    },
  });
  expect(list).toHaveLength(2);
  expect(native.createRwqIndTable(ctx[kHandle], list as never)).toBe(-22);
  expect([native.isOpen(first as never), native.isOpen(second as never)]).toEqual([false, true]);
  ctx.close();
});
