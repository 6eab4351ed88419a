import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

// Below the package, so that it finds "@verbs/mlx5" under its own name.
const folder = fileURLToPath(new URL('../build/readme/', import.meta.url));

it("runs the README's example, with the output that the README shows", () => {
  const [, program] = /```js\n([^]*?)```/.exec(readme) ?? [];
  const [, output] = /```text\n([^]*?)```/.exec(readme) ?? [];
  expect(program).toContain("from '@verbs/mlx5'");
  mkdirSync(folder, { recursive: true });
  try {
    writeFileSync(`${folder}example.mjs`, program ?? '');
    const env = { ...process.env };
    delete env['VERBS_SOFT'];
    const { status, stdout, stderr } = spawnSync(process.execPath, [`${folder}example.mjs`], { env, encoding: 'utf8' });
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: output, stderr: '' });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
