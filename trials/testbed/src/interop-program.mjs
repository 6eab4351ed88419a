import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Problem } from '../../../tools/setup/src/problem.mjs';

const native = join(import.meta.dirname, '../native');
const build = join(import.meta.dirname, '../build');

/** Compiles the cases and returns the program, which runs at either end. */
export function buildCases() {
  mkdirSync(build, { recursive: true });
  const program = join(build, 'interop');
  const sources = readdirSync(native).filter((name) => name.endsWith('.c'));
  const args = ['-std=gnu17', '-O2', '-Wall', '-Wextra', '-D_GNU_SOURCE', ...sources, '-libverbs', '-o', program];
  const [compiler = 'cc', ...options] = (process.env['CC'] ?? 'cc').split(' ');
  const { status, stderr, error } = spawnSync(compiler, [...options, ...args], { cwd: native, encoding: 'utf8' });
  if (status !== 0) throw new Problem(`the cases do not compile: ${error?.message ?? stderr}`);
  return program;
}
