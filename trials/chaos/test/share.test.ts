// The share of `npm test`: some runs of the chaos suite with a fixed seed.
import process from 'node:process';
import { expect, test } from 'vitest';
import { cellsOf } from '../src/cells.mjs';
import { seedOf } from '../src/random.mjs';
import { series } from '../src/series.mjs';

test('transfers survive what happens to them, or end with the right error', { timeout: 180_000 }, async () => {
  const options = { cells: cellsOf(), seed: 20, milliseconds: 30_000, jobs: 2 };
  const results = await series(options, process.env, () => undefined);
  const failed = results.filter(({ problems }) => problems.length > 0);
  const text = failed.map(({ cell, seed, problems }) => {
    const name = `${cell.disturbance.kind}/${cell.link}/${cell.package}`;
    return `npm run trial chaos -- --seed ${seed} --only ${name} --runs 1\n  ${problems.join('\n  ')}`;
  });
  expect(text).toEqual([]);
  expect(results.filter(({ skipped }) => skipped === undefined).length).toBeGreaterThan(4);
});

test('the first run of a series has its seed, so that one run repeats a failure', () => {
  expect(seedOf(77, 0)).toBe(77);
  expect(new Set(Array.from({ length: 1000 }, (_, index) => seedOf(77, index))).size).toBe(1000);
});

test('cells are chosen by kind, link and package', () => {
  expect(cellsOf('address').every(({ link }) => link === 'veth')).toBe(true);
  expect(cellsOf('kill/veth/hbl')).toHaveLength(1);
  expect(cellsOf('nothing')).toEqual([]);
});
