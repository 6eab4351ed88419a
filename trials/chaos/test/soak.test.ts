import { expect, test } from 'vitest';
import { rising, trend } from '../src/soak/trend.mjs';

test('the rise of a line is that from its first sample to its last', () => {
  expect(trend([1, 2, 3, 4])).toEqual({ mean: 2.5, rise: 3 });
  expect(trend([5])).toEqual({ mean: 5, rise: 0 });
});

test('one descriptor more every while is told, a warm-up is not', () => {
  const flat = Array.from({ length: 20 }, () => 30);
  const leak = flat.map((value, at) => value + Math.floor(at / 5));
  const warm = flat.map((value, at) => (at < 4 ? 10 : value));
  expect(rising({ one: { descriptors: flat }, two: { descriptors: warm } })).toEqual([]);
  expect(rising({ one: { descriptors: leak } })).toHaveLength(1);
});

test('times may rise with those of the control, and not beyond', () => {
  const line = (from: number, to: number) => Array.from({ length: 20 }, (_, at) => from + ((to - from) * at) / 19);
  const slower = { one: { p99: line(100e3, 300e3) } };
  expect(rising(slower, line(400, 400))).toHaveLength(1);
  expect(rising(slower, line(400, 1200))).toEqual([]);
  expect(rising(slower, line(1200, 400))).toHaveLength(1);
  expect(rising({ one: { descriptors: line(10, 30) } }, line(400, 1200))).toHaveLength(1);
});

test('memory that grows by a tenth and 16 MB is told', () => {
  const grows = Array.from({ length: 20 }, (_, at) => 100e6 + at * 2e6);
  expect(rising({ one: { rss: grows } })).toHaveLength(1);
  expect(rising({ one: { rss: grows.map((value) => value / 100) } })).toEqual([]);
});
