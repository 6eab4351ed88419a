// The share of `npm test`: a kill at each step of each side. The documented times are for an idle machine.
import process from 'node:process';
import { expect, test } from 'vitest';
import { steps } from '../src/kills/steps.mjs';
import { series } from '../src/kills/series.mjs';

test('the survivor of a connection has its event, whenever the other end is killed', { timeout: 120_000 }, async () => {
  const kills = steps.length;
  const options = { kills, seed: 14, jobs: kills, slack: 40_000 };
  const { results, left } = await series(options, process.env, () => undefined);
  const failed = results.filter(({ problems }) => problems.length > 0);
  expect(failed.map(({ step, problems }) => `${step.role} ${step.name}: ${problems.join(', ')}`)).toEqual([]);
  expect(left).toEqual([]);
  expect(results).toHaveLength(kills);
});
