import fc from 'fast-check';
import { expect, test } from 'vitest';
import { median } from '../src/statistics.js';

test('median of odd and even numbers of values', () => {
  expect(median([3])).toBe(3);
  expect(median([9, 1, 5])).toBe(5);
  expect(median([10, 2, 9, 1])).toBe(5.5);
  expect(() => median([])).toThrow('median of nothing');
});

test('no more than half of the values lie on either side of the median', () => {
  fc.assert(
    fc.property(fc.array(fc.integer(), { minLength: 1 }), (values) => {
      const middle = median(values);
      expect(values.filter((value) => value < middle).length * 2).toBeLessThanOrEqual(values.length);
      expect(values.filter((value) => value > middle).length * 2).toBeLessThanOrEqual(values.length);
    }),
  );
});
