import { expect, test } from 'vitest';
import { committedFigures, countInstructions, toleranceOf, whyNotCompared } from '../src/instructions.mjs';

const reason = whyNotCompared();

test.skipIf(reason !== undefined)(
  `a message costs no more instructions than before${reason === undefined ? '' : ` (skipped: ${reason})`}`,
  { timeout: 300_000 },
  () => {
    const { rows } = committedFigures();
    const count = (titles?: readonly string[]) =>
      countInstructions(titles).map(({ title, sum }) => ({ title, sum: Math.round(sum), committed: rows[title] ?? 0 }));
    const isRisen = ({ title, sum, committed }: { title: string; sum: number; committed: number }) =>
      sum > committed * (1 + toleranceOf(title));
    const counted = count();
    expect(counted.map(({ title }) => title)).toEqual(Object.keys(rows));
    // What a busy machine adds by its clock is not in every count; what the code adds is.
    let risen = counted.filter(isRisen);
    for (let again = 0; again < 2 && risen.length > 0; again++)
      risen = count(risen.map(({ title }) => title)).filter(isRisen);
    expect(
      risen,
      'node trials/bench/bin/instructions.mjs --functions shows where; --commit after a good reason',
    ).toEqual([]);
  },
);
