import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { run } from './helpers/program.js';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

// Below the package, so that it finds "@verbs/core" under its own name.
const folder = fileURLToPath(new URL('../build/readme/', import.meta.url));

it("runs the README's example, with the output that the README shows", async () => {
  const [, program] = /```js\n([^]*?)```/.exec(readme) ?? [];
  const [, output] = /```text\n([^]*?)```/.exec(readme) ?? [];
  expect(program).toContain("from '@verbs/core'");
  mkdirSync(folder, { recursive: true });
  try {
    writeFileSync(`${folder}example.mjs`, program ?? '');
    const ended = await run(`${folder}example.mjs`);
    expect(ended).toEqual({ code: 0, signal: null, stdout: output, stderr: '' });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
