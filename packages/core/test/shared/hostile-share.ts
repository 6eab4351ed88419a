import { expect } from 'vitest';
import { run } from '../helpers/program.js';

interface Report {
  failures: number[];
  made: number;
  returned: number;
  undescribed: string[];
}

/**
 * A share of `npm run trial hostile`, which runs under AddressSanitizer: every call of random hostile sequences returns or throws
 * what is promised, and nothing is left over.
 *
 * @param program the package's test/programs/hostile.mjs
 */
export async function expectHostileShare(program: string): Promise<void> {
  const args = ['--seed', '4', '--sequences', '300'];
  const ended = await run(program, { args, nodeArgs: ['--expose-gc', '--no-warnings'] });
  expect(ended).toMatchObject({ code: 0, signal: null, stderr: '' });
  const report = JSON.parse(ended.stdout) as Report;
  expect(report.failures).toEqual([]);
  // A public call without arguments in test/programs/hostile/calls-*.mjs would be left out in silence.
  expect(report.undescribed).toEqual([]);
  // Both kinds of ends are frequent, or the sequences say little.
  expect(report.returned).toBeGreaterThan(1000);
  expect(report.made - report.returned).toBeGreaterThan(1000);
}
