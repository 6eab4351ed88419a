import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { softModel } from '../src/index.js';

/** Each function with its version node. */
function symbols(path: string): string[] {
  const lines = execFileSync('nm', ['-D', '--defined-only', path], { encoding: 'utf8' }).trim().split('\n');
  return lines.flatMap((line) => / [TR] (\S+)$/.exec(line)?.[1] ?? []).sort();
}

it('librdmacm.so.1 has the functions and versions of the real one, and the marker', () => {
  const real = '/usr/lib/x86_64-linux-gnu/librdmacm.so.1';
  const ours = join(softModel.dropIn, 'librdmacm.so.1');
  expect(lstatSync(ours).isFile()).toBe(true);
  expect(symbols(ours)).toContain('verbs_soft_marker@@VERBS_SOFT_1.0');
  expect(symbols(ours)).toContain('rdma_connect@@RDMACM_1.0');
  if (existsSync(real)) expect(symbols(ours)).toEqual(expect.arrayContaining(symbols(real)));
});

it('the library of the binding is a regular file too, with a name of its own', () => {
  expect(lstatSync(softModel.library).isFile()).toBe(true);
  expect(symbols(softModel.library)).toContain('verbs_soft_model_load@@VERBS_SOFT_1.0');
});
