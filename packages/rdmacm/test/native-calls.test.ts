import { expect, it } from 'vitest';
import { callNatively } from '../../core/test/shared/native-calls.js';

it.each([4, 5])(
  'every function of the addon survives arguments that no caller should have, seed %i',
  async (seed) => {
    const addon = new URL('../native/binding/build/Release/verbs_rdmacm.node', import.meta.url);
    const tour = new URL('programs/native-tour.mjs', import.meta.url);
    const ended = await callNatively({ addon, tour, seed, calls: 1500, env: { VERBS_SOFT: '' } });
    expect(ended.failure).toBeUndefined();
    expect(ended.strange).toEqual([]);
    expect(ended.returned).toBeGreaterThan(50);
    expect(ended.thrown).toBeGreaterThan(50);
  },
  120_000,
);
