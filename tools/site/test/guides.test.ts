import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const docs = fileURLToPath(new URL('../../../docs/', import.meta.url));
// Below this package, so that the programs find the others by their names.
const folder = fileURLToPath(new URL('../test-results/guides/', import.meta.url));

/**
 * The programs of a document, with the output that it shows behind each. One that begins with a file's name is an end of
 * two hosts: `npm run trial programs` runs them.
 */
function programs(name: string) {
  const text = readFileSync(join(docs, name), 'utf8');
  return [...text.matchAll(/^```(?:js|ts)\n(.*?)^```\n(?:\n```text\n(.*?)^```)?/gms)]
    .map(([, code = '', output], i) => ({ name: `${name}, program ${i + 1}`, code, output }))
    .filter(({ code }) => !/^\/\/ \w+\.mjs\n/.test(code));
}

const documents = [
  '../README.md',
  ...readdirSync(docs, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md')),
];

// The software NIC is enough for each, and some need a second of it.
describe('the programs of the guides run, and print what the guide shows', { timeout: 120_000 }, () => {
  beforeAll(() => {
    mkdirSync(folder, { recursive: true });
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  it.each(documents.flatMap(programs))('$name', ({ code, output }) => {
    const options = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext };
    const file = join(folder, 'program.mjs');
    writeFileSync(file, ts.transpileModule(code, { compilerOptions: options }).outputText);
    const env = { ...process.env };
    delete env['VERBS_SOFT'];
    const run = spawnSync(process.execPath, [file], { cwd: folder, env, encoding: 'utf8', timeout: 60_000 });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    // A line of a shell may come first.
    if (output !== undefined) expect(run.stdout).toBe(output.replace(/^\$ .*\n/, ''));
  });
});
