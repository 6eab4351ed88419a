import { expect, test } from 'vitest';
import { committedFigures, countInstructions, toleranceOf, whyNotCompared } from '../src/instructions.mjs';

const reason = whyNotCompared();

test.skipIf(reason !== undefined)(
  `a message costs no more instructions than before${reason === undefined ? '' : ` (skipped: ${reason})`}`,
  { timeout: 300_000 },
  () => {
    const { rows } = committedFigures();
    const counted = countInstructions();
    expect(counted.map(({ title }) => title)).toEqual(Object.keys(rows));
    const risen = counted
      .map(({ title, sum }) => ({ title, sum: Math.round(sum), committed: rows[title] ?? 0 }))
      .filter(({ title, sum, committed }) => sum > committed * (1 + toleranceOf(title)));
    expect(
      risen,
      'node trials/bench/bin/instructions.mjs --functions shows where; --commit after a good reason',
    ).toEqual([]);
  },
);
