import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { native } from '../src/native/index.js';

// mlx5dv_create_flow of the releases 60.0 to 62.0 walks its actions in steps of 24 bytes, without another symbol: the name
// of the library's file tells them. Here are libraries with such names; the vendor's cannot be had for each release.

const folder = mkdtempSync(join(tmpdir(), 'verbs-mlx5-stride-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});
const source = join(folder, 'libmlx5.c');
writeFileSync(source, '_Bool mlx5dv_is_supported(void *device) { return device == 0; }\n');

it.each([
  ['libmlx5.so.1.24.44.0', 16],
  ['libmlx5.so.1.25.56.1', 16],
  ['libmlx5.so.1.25.59.0', 16],
  ['libmlx5.so.1.25.60.0', 24],
  ['libmlx5.so.1.25.60.1', 24],
  ['libmlx5.so.1.25.60.2', 16],
  ['libmlx5.so.1.25.61.0', 24],
  ['libmlx5.so.1.25.61.1', 16],
  ['libmlx5.so.1.26.62.0', 24],
  ['libmlx5.so.1.26.62.1', 16],
  ['libmlx5.so.1.27.63.0', 16],
  ['libmlx5.so.1.27.65.0', 16],
  ['libmlx5-of-somebody.so', 16],
])('%s: %i bytes', (name, size) => {
  const file = join(folder, name);
  execFileSync('cc', ['-shared', '-fPIC', '-o', file, source]);
  // As a distribution installs it, and as the loader is asked for it.
  const link = join(folder, `${name}.link`);
  symlinkSync(name, link);
  const { handle } = native.openLibrary(link);
  if (handle === undefined) throw new Error('it does not load');
  expect(native.flowActionSize(handle)).toBe(size);
});
