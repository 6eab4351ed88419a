import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { script } from './helpers/program.js';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
// Below the package, so that it finds "@verbs/doca-comm" under its own name.
const folder = fileURLToPath(new URL('../build/readme/', import.meta.url));

test("the README's example runs, with the output that the README shows", async () => {
  const [, program] = /```js\n([^]*?)```/.exec(readme) ?? [];
  const [, output] = /```text\n([^]*?)```/.exec(readme) ?? [];
  mkdirSync(folder, { recursive: true });
  try {
    writeFileSync(`${folder}example.mjs`, program ?? '');
    const run = script('../../build/readme/example.mjs', []);
    expect(await run.ended).toBe(0);
    expect(run.output()).toBe(output);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
