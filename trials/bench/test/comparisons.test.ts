import { expect, test } from 'vitest';
import { comparisons } from '../src/comparisons.js';

const extents = [
  { scale: 1, quick: false, baseline: '/elsewhere' },
  { scale: 0.1, quick: true },
];

test.each(extents)('names are unique, and targets are about contenders that exist: %j', (extent) => {
  const all = comparisons(extent);
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  for (const { contenders, targets } of all) {
    const names = contenders.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { contender, against = [] } of targets) {
      for (const name of [contender, ...against]) expect(names).toContain(name);
    }
  }
});

test('every target has a row of its own', () => {
  const titles = comparisons(extents[0] ?? { scale: 1, quick: false }).flatMap(({ targets }) =>
    targets.map(({ title }) => title),
  );
  expect(new Set(titles).size).toBe(titles.length);
  expect(titles).toContain('awaited qp.send, rate against the baseline');
});
