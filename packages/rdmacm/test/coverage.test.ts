import { expect, it } from 'vitest';
import { coverageOf } from '../../core/test/shared/coverage.js';

it('accounts for every function of librdmacm and of its headers', { timeout: 120_000 }, () => {
  const { functions, problems } = coverageOf(new URL('..', import.meta.url));
  expect(problems).toEqual([]);
  expect(functions.length).toBeGreaterThanOrEqual(80);
});
