import { expect, test } from 'vitest';
import { logarithmic } from '../src/report/axis.js';
import { replaceBetween, speedsOf, targetsOf } from '../src/report/documents.js';
import { htmlReport } from '../src/report/html.js';
import { svgPlot } from '../src/report/plot.js';
import { plotsOf } from '../src/report/plots.js';
import type { ComparisonResult, ContenderResult } from '../src/run/rounds.js';

function contender(name: string, median: number, more: Partial<ContenderResult> = {}): ContenderResult {
  return { name, values: [median], placements: ['far'], best: median, median, far: median, ratio: 1, ...more };
}

const bySize = [64, 4096].map((size): ComparisonResult => ({
  name: `round trip of ${size} bytes`,
  unit: 'us',
  better: 'small',
  plot: { title: 'Round trip by size', axis: 'bytes', x: size },
  contenders: [
    contender('A <b>', size / 10, { percentiles: { p50: 6.4, p99: 77.7, p999: 88.8 } }),
    contender('B', size / 20),
    { ...contender('C', NaN), values: [], skipped: 'C is not installed' },
  ],
  targets: [
    { title: 'A against B', contender: 'A', of: 'ratio', limit: 1.5, value: 2, reached: false },
    { title: 'A against C', contender: 'A', of: 'ratio', limit: 1, reason: 'not measured: C' },
  ],
}));
const byLoss: ComparisonResult = {
  name: 'stream by loss',
  unit: 'MB/s',
  better: 'large',
  plot: { title: 'By loss', axis: '%' },
  contenders: [contender('0 % lost', 500, { x: 0 }), contender('1 % lost', 300, { x: 1 })],
  targets: [{ title: 'half of it', contender: '1 % lost', of: 'ratio', limit: 0.5, value: 0.6, reached: true }],
};
const results = [...bySize, byLoss];

const about = {
  command: 'npm run bench',
  date: '2026-01-01 00:00',
  rounds: 1,
  processors: { model: 'a <model>', count: 2 },
  node: 'v1',
  kernel: '6',
};

test('comparisons with a common plot are points of its lines; contenders with places are one line', () => {
  const [size, loss] = plotsOf(results);
  expect(size?.lines).toEqual([
    {
      name: 'A <b>',
      points: [
        { x: 64, y: 6.4 },
        { x: 4096, y: 409.6 },
      ],
    },
    {
      name: 'B',
      points: [
        { x: 64, y: 3.2 },
        { x: 4096, y: 204.8 },
      ],
    },
  ]);
  expect(loss?.lines).toEqual([
    {
      name: 'By loss',
      points: [
        { x: 0, y: 500 },
        { x: 1, y: 300 },
      ],
    },
  ]);
});

test('the report has each target, each contender and each plot, and needs no other file', () => {
  const html = htmlReport(about, results);
  for (const words of ['A against B', 'reached', 'missed', 'not measured: C', 'C is not installed', '77.7', '88.8']) {
    expect(html).toContain(words);
  }
  expect(html.match(/<svg viewBox="0 0 720/g)).toHaveLength(2);
  expect(html).toContain('prefers-color-scheme: dark');
  expect(html).not.toMatch(/<script|<link|<img|https?:|url\(/);
  expect(html).not.toMatch(/NaN|undefined|Infinity/);
});

test('names are text in the report', () => {
  const html = htmlReport(about, results);
  expect(html).toContain('A &#60;b&#62;');
  expect(html).not.toContain('<b>');
  expect(html).not.toContain('<model>');
});

test('a logarithmic axis has the zero before the rest', () => {
  const axis = logarithmic([0, 1, 10], 0, 100);
  expect(axis.at(0)).toBe(0);
  expect(axis.at(1)).toBe(50);
  expect(axis.at(10)).toBe(100);
  expect(axis.ticks).toEqual([0, 1, 2, 5, 10]);
});

test('a plot of one point and of none can be drawn', () => {
  const plot = { title: 'one', axis: 'x', unit: 'y' };
  expect(svgPlot({ ...plot, lines: [{ name: 'a', points: [{ x: 1, y: 1 }] }] })).not.toMatch(/NaN|Infinity/);
  expect(svgPlot({ ...plot, lines: [] })).toBe('');
});

test('the documents have the targets and the speeds of a run, as tables that are formatted', () => {
  expect(targetsOf(about, results).split('\n')).toEqual([
    '2026-01-01 00:00, 2 processors a <model>, Linux 6, Node.js v1, 1 round: npm run bench',
    '',
    '| figure      | measured | target        |                 |',
    '| ----------- | -------- | ------------- | --------------- |',
    '| A against B | 2.00     | at most 1.50  | missed          |',
    '| A against C | -        | at most 1.00  | not measured: C |',
    '| A against B | 2.00     | at most 1.50  | missed          |',
    '| A against C | -        | at most 1.00  | not measured: C |',
    '| half of it  | 0.60     | at least 0.50 | reached         |',
  ]);
  const local = (name: string, contenders: ContenderResult[]): ComparisonResult => ({
    ...{ name: `${name} between two devices, at the speeds of @verbs/core`, unit: '', better: 'small', targets: [] },
    contenders,
  });
  const speeds = [
    local('round trip of 64 bytes', [contender('C', 0.5), contender('awaited', 12.34)]),
    local('stream of RDMA WRITEs of 64 bytes', [contender('C', 5_600_000), contender('awaited', 100_000)]),
  ];
  expect(speedsOf(speeds).split('\n')).toEqual([
    '| way     | round trip | stream of RDMA WRITEs |',
    '| ------- | ---------- | --------------------- |',
    '| C       | 0.50 us    | 5.60 million/s        |',
    '| awaited | 12.3 us    | 0.10 million/s        |',
  ]);
  expect(() => speedsOf(results)).toThrow('--write needs the comparison "stream of RDMA WRITEs of 64 bytes…"');
});

test('a document keeps what stands around the figures, and must have a place for them', () => {
  expect(replaceBetween('a\n<!-- x -->\nold\n<!-- to here -->\nb', '<!-- x -->', 'new')).toBe(
    'a\n<!-- x -->\n\nnew\n\n<!-- to here -->\nb',
  );
  expect(() => replaceBetween('a', '<!-- x -->', 'new')).toThrow('there is no <!-- x --> … <!-- to here -->');
});
