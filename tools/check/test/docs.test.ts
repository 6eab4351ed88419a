import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { namedPaths, pathFinder } from '../src/docs/named-paths.mjs';

const paths = (text: string, directory = '', packageDirectory?: string) =>
  namedPaths(text, directory, packageDirectory).map(({ path }) => path);

it('finds the targets of links, relative to the document', () => {
  expect(paths('[a](README.md#use) [b](../tools) [c](https://example.org/x) [d](#here)', 'docs')).toEqual([
    'docs/README.md',
    'tools',
  ]);
});

it('finds paths in code spans and in blocks of code, and no other code', () => {
  const text =
    'Edit `packages/soft/native/nic/nic.h:12`, not `a/b` or `qp.send()`.\n```sh\nls packages/core "tools/x"\n```';
  expect(namedPaths(text, '', undefined)).toEqual([
    { path: 'packages/soft/native/nic/nic.h', line: 1 },
    { path: 'packages/core', line: 3 },
    { path: 'tools/x', line: 3 },
  ]);
});

it('takes the folders of a package in its own documents', () => {
  expect(paths('see `native/host`', 'packages/soft', 'packages/soft')).toEqual(['packages/soft/native/host']);
  expect(paths('see `native/host`')).toEqual([]);
});

it('leaves out placeholders and the outputs of builds', () => {
  expect(paths('`packages/NAME/native`, `tools/check/NAME_test.cc`, `packages/core/dist/index.js`')).toEqual([]);
  expect(paths('`packages/core/README.md`')).toEqual(['packages/core/README.md']);
});

it('knows files, their folders, and names with a star', () => {
  const exists = pathFinder(['packages/core/src/index.ts']);
  expect(exists('packages/core/src/')).toBe(true);
  expect(exists('packages/*/src/*.ts')).toBe(true);
  expect(exists('packages/core/index.ts')).toBe(false);
  expect(exists('packages/*/native')).toBe(false);
});

it('passes on this repository', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, '../docs.mjs')], {
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  expect(stdout).toMatch(/^docs: \d+ documents name \d+ paths, 0 of them missing$/m);
  expect(status).toBe(0);
});
