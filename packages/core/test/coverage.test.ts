import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const script = fileURLToPath(new URL('../../../tools/api-coverage/bin/api-coverage.mjs', import.meta.url));
const directory = fileURLToPath(new URL('..', import.meta.url));

it('accounts for every function of libibverbs', { timeout: 120_000 }, () => {
  const output = execFileSync(process.execPath, [script, directory, '--json'], { encoding: 'utf8', stdio: 'pipe' });
  const { functions, problems } = JSON.parse(output) as { functions: object[]; problems: string[] };
  expect(problems).toEqual([]);
  expect(functions.length).toBeGreaterThan(150);
});
