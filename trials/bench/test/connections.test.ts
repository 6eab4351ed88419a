import { expect, test } from 'vitest';
import { measure } from '../src/run/program.js';

// Each process counts those that it has, and fails with any other event.
test.each([
  ['tcp_connections', 'closed one by one', ['-n', '100', '-w', '3']],
  ['tcp_connections', 'that stay open', ['-n', '200', '-w', '200']],
  ['cm_connections', 'closed one by one', ['-n', '100', '-w', '3']],
  ['cm_connections', 'that stay open', ['-n', '200', '-w', '200']],
])('%s opens connections %s', async (program, _name, args) => {
  const { unit, rate } = await measure({ name: '', program, args });
  expect(unit).toBe('connections/s');
  expect(rate).toBeGreaterThan(0);
});
