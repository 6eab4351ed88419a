// Where the package is installed decides about the software NIC. Each test installs copies in a folder of its own.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const packages = fileURLToPath(new URL('../..', import.meta.url));
const PROGRAM = `
import { probeLibraries } from '@verbs/core';
import { unavailableReason } from '@verbs/doca-comm';
const reasons = [probeLibraries().find(({ kind }) => kind === 'soft').reason, unavailableReason('soft')];
console.log(JSON.stringify(reasons));
`;

/** Why core and doca-comm have no software NIC, in a folder with them and with this @verbs/soft. */
function reasonsWith(soft: string | undefined): unknown {
  const folder = mkdtempSync(join(tmpdir(), 'verbs-doca-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  const modules = join(folder, 'node_modules/@verbs');
  for (const name of ['core', 'doca-comm']) {
    const copy = join(modules, name);
    mkdirSync(copy, { recursive: true });
    for (const part of ['dist', 'package.json'])
      cpSync(join(packages, name, part), join(copy, part), { recursive: true });
    symlinkSync(join(packages, name, 'native'), join(copy, 'native'));
  }
  if (soft !== undefined) {
    mkdirSync(join(modules, 'soft'));
    writeFileSync(join(modules, 'soft/index.js'), soft);
  }
  writeFileSync(join(folder, 'program.mjs'), PROGRAM);
  // pnpm's scripts set NODE_PATH, which would lead to the packages of this checkout.
  const env = { ...process.env, NODE_PATH: '' };
  const program = join(folder, 'program.mjs');
  return JSON.parse(execFileSync(process.execPath, [program], { cwd: folder, env, encoding: 'utf8' }));
}

test.each([
  ['is missing', undefined, 'the software NIC is not installed: npm install @verbs/soft'],
  ['does not load', 'throw new Error("libverbs-soft-nic.so.1: wrong ELF class")', /does not load: .*wrong ELF class/],
  ['is not built', 'exports.library = undefined', /@verbs\/soft is not built, or another package of that name/],
])('@verbs/soft %s: core and doca-comm give the same reason', (_, soft, reason) => {
  const expected = typeof reason === 'string' ? reason : (expect.stringMatching(reason) as string);
  expect(reasonsWith(soft)).toEqual([expected, expected]);
});
