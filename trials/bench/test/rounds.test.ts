import { expect, test } from 'vitest';
import type { Comparison, Placement } from '../src/comparison.js';
import { describe, describeTargets } from '../src/report/text.js';
import { compare, Race } from '../src/run/rounds.js';
import { Skipped } from '../src/run/skipped.js';

const comparison: Comparison = {
  name: 'a race',
  unit: 'us',
  valueOf: ({ median }) => Number(median),
  better: 'small',
  contenders: [
    { name: 'floor', program: 'floor', args: [] },
    { name: 'runner', program: 'runner', args: [] },
  ],
  targets: [{ title: 'a fast runner', contender: 'runner', of: 'ratio', limit: 2 }],
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
  const placements = ['far', 'far', 'far'];
  expect(contenders).toEqual([
    { name: 'floor', values: [10, 50, 10], placements, best: 10, median: 10, far: 10, ratio: 1 },
    { name: 'runner', values: [15, 100, 19], placements, best: 15, median: 19, far: 19, ratio: 1.9 },
  ]);
  expect(targets).toMatchObject([{ value: 1.9, reached: true }]);
});

test('a target that is missed says so', async () => {
  const strict: Comparison = {
    ...comparison,
    targets: [{ title: 'a fast runner', contender: 'runner', of: 'ratio', limit: 1.5 }],
  };
  const result = await compare(strict, 3, machine().run);
  expect(result.targets[0]?.reached).toBe(false);
  expect(describe(result)).toMatch(/runner +19\.0 +- +19\.0 +1\.90/);
  expect(describeTargets([result])).toMatch(/\na fast runner +1\.90 +at most 1\.50 +missed$/);
});

test('for rates more is better', async () => {
  const rate: Comparison = {
    ...comparison,
    better: 'large',
    targets: [{ title: 'a high floor', contender: 'floor', of: 'value', limit: 20 }],
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

/** A race in which each contender has its time, and the processors are placed as the probe says. */
function raceOf(
  changes: Partial<Pick<Comparison, 'contenders' | 'targets'>>,
  times: Record<string, number>,
  placements: Placement[],
) {
  const race = new Race({ ...comparison, ...changes });
  const run = ({ program }: { program: string }) => Promise.resolve({ median: times[program] ?? NaN });
  let probes = 0;
  const probe = () => Promise.resolve(placements[probes++ % placements.length] ?? 'far');
  return { race, run, probe };
}

test('a measurement has the placement that the probe finds before and after it', async () => {
  const { race, run, probe } = raceOf({}, { floor: 10, runner: 15 }, ['near', 'near', 'far']);
  await race.round(run, probe);
  const [floor, runner] = race.result().contenders;
  expect(floor).toMatchObject({ placements: ['near'], near: 10 });
  expect(runner?.placements).toEqual(['mixed']);
  expect(runner).not.toHaveProperty('near');
});

test('a target for near processors counts only rounds that had them', async () => {
  const targets = (['near', 'far'] as const).map((placement) => ({
    title: placement,
    contender: 'runner',
    of: 'ratio' as const,
    limit: 2,
    placement,
  }));
  const { race, run, probe } = raceOf({ targets }, { floor: 10, runner: 15 }, ['near']);
  await race.round(run, probe);
  expect(race.result().targets).toMatchObject([
    { value: 1.5, reached: true },
    { title: 'far', reason: 'no round had far processors' },
  ]);
});

test('a target may be about the best of several', async () => {
  const contenders: Comparison['contenders'] = [
    { name: 'floor', program: 'floor', args: [] },
    { name: 'runner', program: 'runner', args: [] },
    { name: 'walker', program: 'walker', args: [] },
  ];
  const target = { title: '', contender: 'floor', of: 'ratio' as const, limit: 1, against: ['walker', 'runner'] };
  const { race, run, probe } = raceOf({ contenders, targets: [target] }, { floor: 10, runner: 20, walker: 40 }, [
    'far',
  ]);
  await race.round(run, probe);
  expect(race.result().targets).toMatchObject([{ value: 0.5, reached: true }]);
});

test('a contender that cannot run is left out from then on, and its targets say so', async () => {
  let runs = 0;
  const run = ({ program }: { program: string }) => {
    if (program === 'floor') return Promise.resolve({ median: 10 });
    runs++;
    return Promise.reject(new Skipped('runner is not installed'));
  };
  const result = await compare(comparison, 3, run);
  expect(runs).toBe(1);
  expect(result.contenders[1]).toMatchObject({ skipped: 'runner is not installed', values: [] });
  expect(result.targets).toEqual([{ ...comparison.targets[0], reason: 'not measured: runner' }]);
  expect(describe(result)).toMatch(/runner {2}runner is not installed/);
  expect(describeTargets([result])).toMatch(/not measured: runner$/);
});

test('a program that fails is in the report, and the others are measured all the same', async () => {
  const order: string[] = [];
  const run = ({ program }: { program: string }) => {
    order.push(program);
    return program === 'floor' ? Promise.resolve({ median: 10 }) : Promise.reject(new Error('broken\nand more'));
  };
  const result = await compare(comparison, 3, run);
  expect(order).toEqual(['floor', 'runner', 'floor', 'floor']);
  expect(result.contenders).toMatchObject([{ median: 10 }, { skipped: 'failed: broken', failed: true, values: [] }]);
  expect(result.contenders[0]).not.toHaveProperty('failed');
  expect(describe(result)).toMatch(/runner {2}failed: broken$/m);
  expect(describeTargets([result])).toMatch(/not measured: runner$/);
});
