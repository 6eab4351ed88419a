import { expect, test } from 'vitest';
import type { Comparison } from '../src/comparisons.js';
import { describe } from '../src/report.js';
import { compare } from '../src/rounds.js';

const comparison: Comparison = {
  name: 'a race',
  unit: 'us',
  valueOf: ({ median }) => Number(median),
  better: 'small',
  contenders: [
    { name: 'floor', program: 'floor', args: [] },
    { name: 'runner', program: 'runner', args: [] },
  ],
  targets: [{ contender: 'runner', of: 'ratio', limit: 2 }],
};

/** The figures of a machine that is five times as slow in its second round. */
function machine() {
  const figures = [10, 15, 50, 100, 10, 19];
  const order: string[] = [];
  const run = ({ program }: { program: string }) => {
    order.push(program);
    return Promise.resolve({ median: figures[order.length - 1] ?? NaN });
  };
  return { order, run };
}

test('the contenders take turns', async () => {
  const { order, run } = machine();
  await compare(comparison, 3, run);
  expect(order).toEqual(['floor', 'runner', 'floor', 'runner', 'floor', 'runner']);
});

test('the ratio is the median of the ratios within a round', async () => {
  const { contenders, targets } = await compare(comparison, 3, machine().run);
  expect(contenders[0]).toEqual({ name: 'floor', values: [10, 50, 10], best: 10, median: 10, ratio: 1 });
  expect(contenders[1]).toEqual({ name: 'runner', values: [15, 100, 19], best: 15, median: 19, ratio: 1.9 });
  expect(targets).toMatchObject([{ value: 1.9, reached: true }]);
});

test('a target that is missed says so', async () => {
  const strict: Comparison = { ...comparison, targets: [{ contender: 'runner', of: 'ratio', limit: 1.5 }] };
  const result = await compare(strict, 3, machine().run);
  expect(result.targets[0]?.reached).toBe(false);
  expect(describe(result)).toMatch(/runner +15\.00 +19\.00 +1\.90\n.*ratio 1\.5, missed/);
});

test('for rates more is better', async () => {
  const rate: Comparison = {
    ...comparison,
    better: 'large',
    targets: [{ contender: 'floor', of: 'value', limit: 20 }],
  };
  const { contenders, targets } = await compare(rate, 3, machine().run);
  expect(contenders[0]?.best).toBe(50);
  expect(targets[0]?.reached).toBe(false);
});

test('contenders with figures of one program share its run', async () => {
  let runs = 0;
  const together: Comparison = {
    ...comparison,
    valueOf: (measurement, { figure = '' }) => Number(measurement[figure]),
    contenders: [
      { name: 'floor', program: 'race', args: [], figure: 'first' },
      { name: 'runner', program: 'race', args: [], figure: 'second' },
    ],
  };
  const { contenders } = await compare(together, 3, () => Promise.resolve({ first: ++runs, second: 3 * runs }));
  expect(runs).toBe(3);
  expect(contenders.map(({ values }) => values)).toEqual([
    [1, 2, 3],
    [3, 6, 9],
  ]);
});
