import { expect, it } from 'vitest';
import { coverageOf } from './shared/coverage.js';

it('accounts for every function of libibverbs', { timeout: 120_000 }, () => {
  const { functions, problems } = coverageOf(new URL('..', import.meta.url));
  expect(problems).toEqual([]);
  expect(functions.length).toBeGreaterThan(150);
});
