import { describe, expect, it } from 'vitest';
import { summarize } from '../pyverbs/summary.mjs';

const passed = { outcome: 'passed', reason: '' } as const;
const skipped = { outcome: 'skipped', reason: 'no hardware' } as const;

describe('summarize', () => {
  it('counts, and gives the reason of every skip', () => {
    expect(summarize({ b: passed, a: passed, c: skipped }, ['a'])).toEqual({
      passed: 2,
      skipped: 1,
      failed: 0,
      lines: ['skipped: c: no hardware'],
    });
  });

  it('takes a required test that was skipped, failed or is missing for a failure', () => {
    const outcomes = { a: passed, b: skipped, c: { outcome: 'failed', reason: 'wrong' } as const };
    expect(summarize(outcomes, ['a', 'b', 'c', 'd'])).toEqual({
      passed: 1,
      skipped: 0,
      failed: 3,
      lines: ['failed: c: wrong', 'must pass: b: no hardware', 'must pass: d: there is no such test'],
    });
  });

  it('fails when nothing passed', () => {
    expect(summarize({ a: skipped }, [])).toMatchObject({ passed: 0, skipped: 1, failed: 1 });
    expect(summarize({}, [])).toMatchObject({ passed: 0, skipped: 0, failed: 1 });
  });
});
