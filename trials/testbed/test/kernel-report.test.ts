// The verdict of `npm run trial kernel`: every difference has a reason, and every reason a difference.
import { expect, it } from 'vitest';
import { coreDifferences } from '../src/comparison/core-differences.mjs';
import { allPlaces, kernelPlaces, leftOut } from '../src/comparison/core-files.mjs';
import { differences } from '../src/comparison/differences.mjs';
import { kernelReport } from '../src/comparison/report.mjs';

const table = [
  { cases: ['a'], reason: 'no such event' },
  { cases: ['b'], reason: 'slow', sometimes: true as const },
];
const run = { kernel: '6.1', complete: true };
const result = (name: string, outcome: 'passed' | 'failed' | 'skipped') => ({
  part: 'conformance' as const,
  name,
  result: outcome,
  message: 'said',
});

it('accepts what has a reason, and says it', () => {
  for (const b of ['passed', 'failed'] as const) {
    const report = kernelReport([result('a', 'failed'), result('b', b), result('c', 'passed')], table, run);
    expect(report.ok).toBe(true);
    expect(report.text).toContain('differs: a: no such event');
  }
});

it('fails for a difference without a reason, and for a reason that no longer applies', () => {
  const unknown = kernelReport([result('a', 'failed'), result('b', 'failed'), result('c', 'failed')], table, run);
  expect(unknown.ok).toBe(false);
  expect(unknown.text).toContain('FAILED c: said');
  const stale = kernelReport([result('a', 'passed'), result('b', 'failed')], table, run);
  expect(stale.ok).toBe(false);
  expect(stale.text).toContain('no longer applies');
  expect(kernelReport([result('b', 'failed')], table, run).text).toContain('FAILED a: there is a reason for it');
  expect(kernelReport([result('b', 'failed')], table, { ...run, complete: false }).ok).toBe(true);
  expect(kernelReport([], [], run).ok).toBe(false);
});

it('names each case once', () => {
  const names = [...differences, ...coreDifferences].flatMap((one) => one.cases);
  expect(new Set(names).size).toBe(names.length);
});

it('knows the test files of @verbs/core: those that run, and why others do not', () => {
  const all = allPlaces();
  expect(kernelPlaces.filter((place) => !all.includes(place))).toEqual([]);
  expect([...leftOut().keys(), ...kernelPlaces].sort()).toEqual(all);
  const ofCore = coreDifferences.flatMap((one) => one.cases.map((name) => name.slice(0, name.indexOf(':'))));
  expect(ofCore.filter((place) => !kernelPlaces.includes(place))).toEqual([]);
});
