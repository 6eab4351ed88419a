import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const script = fileURLToPath(new URL('../../../tools/api-coverage/bin/api-coverage.mjs', import.meta.url));
const directory = fileURLToPath(new URL('..', import.meta.url));

it('accounts for every function of libmlx5, those of later releases too', { timeout: 120_000 }, () => {
  const output = execFileSync(process.execPath, [script, directory, '--json'], { encoding: 'utf8', stdio: 'pipe' });
  const { functions, problems } = JSON.parse(output) as { functions: { name: string }[]; problems: string[] };
  expect(problems).toEqual([]);
  expect(functions.length).toBeGreaterThanOrEqual(170);
});
