import { expect, it } from 'vitest';
import { outputOf } from '../src/shell.mjs';

it('a long output is an output', () => {
  expect(outputOf('head', ['-c', '2000000', '/dev/zero'])).toHaveLength(2_000_000);
});

it('a program that fails has none', () => {
  expect(outputOf('false', [])).toBeUndefined();
  expect(outputOf('/nonexistent/program', [])).toBeUndefined();
});
