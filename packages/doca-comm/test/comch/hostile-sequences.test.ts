import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { run } from '../../../core/test/helpers/program.js';

interface Report {
  failures: number[];
  made: number;
  returned: number;
  undescribed: string[];
}

// A share of `npm run trial hostile -- --package doca-comm`, which runs under AddressSanitizer.
it('every call of random hostile sequences returns or throws what is promised, and nothing is left over', async () => {
  const program = fileURLToPath(new URL('../programs/hostile.mjs', import.meta.url));
  const args = ['--seed', '4', '--sequences', '300'];
  // Within the process: what devices share with others stays with them, and is none of the objects'.
  const env = { VERBS_SOFT_LINK: 'auto' };
  const ended = await run(program, { args, env, nodeArgs: ['--expose-gc', '--no-warnings'] });
  expect(ended).toMatchObject({ code: 0, signal: null, stderr: '' });
  const report = JSON.parse(ended.stdout) as Report;
  expect(report.failures).toEqual([]);
  // A public call without arguments in test/programs/hostile/calls-*.mjs would be left out in silence.
  expect(report.undescribed).toEqual([]);
  // Both kinds of ends are frequent, or the sequences say little.
  expect(report.returned).toBeGreaterThan(1000);
  expect(report.made - report.returned).toBeGreaterThan(1000);
}, 300_000);
