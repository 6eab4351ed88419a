import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { root } from '../../setup/src/paths.mjs';
import { keysOf, notePassed, passedAt } from '../src/report/passed.mjs';
import type { Suite } from '../src/report/suites.mjs';

interface Task {
  taskId: string;
  task: string;
  directory: string;
  hash: string;
  dependencies: string[];
}

const task = (directory: string, hash: string, dependencies = ['@verbs/soft#build']): Task => {
  const name = directory.split('/').at(-1) ?? '';
  return { taskId: `@verbs/${name}#test`, task: 'test', directory, hash, dependencies };
};
const keys = (...tasks: Task[]) => keysOf(JSON.stringify({ tasks }));

const folder = (name: string) => join(root, 'packages', name);

test('the key of a package changes with its content, and with the tests from which it takes parts', () => {
  const core = task('packages/core', 'a');
  const soft = task('packages/soft', 'b', []);
  const lib = task('packages/lib', 'c');
  const hbl = task('packages/hbl', 'd', ['@verbs/lib#build', '@verbs/soft#build']);
  const key = (...tasks: Task[]) => keys(...tasks).get(folder('hbl'));
  const before = key(core, soft, lib, hbl);
  expect(before).toBeDefined();
  expect(key(core, soft, lib, hbl)).toBe(before);
  for (const changed of [core, soft, lib, hbl]) {
    const tasks = [core, soft, lib, hbl].map((each) => (each === changed ? { ...each, hash: 'x' } : each));
    expect(key(...tasks), changed.directory).not.toBe(before);
  }
  const another = task('packages/mlx5', 'e');
  expect(key(core, soft, lib, hbl, another)).toBe(before);
});

test('what reads files of all packages has none, nor has anything without a plan of turbo', () => {
  const all = [task('packages/soft', 'a', []), task('trials/bench', 'b'), task('tools/check', 'c', [])];
  expect([...keys(...all).keys()]).toEqual([folder('soft')]);
  expect(keysOf(undefined).size).toBe(0);
});

test('what passed is known by its key, as long as its reports are there', () => {
  const directory = mkdtempSync(join(tmpdir(), 'verbs-passed-'));
  onTestFinished(() => {
    rmSync(directory, { recursive: true });
  });
  const report = join(directory, 'test-results/vitest.json');
  const suites = [{ directory, report }] as Suite[];
  expect(passedAt(directory, 'key', suites)).toBeUndefined();
  notePassed(directory, 'key');
  expect(passedAt(directory, 'key', suites)).toBeUndefined();
  writeFileSync(report, '{}');
  notePassed(directory, 'key');
  expect(passedAt(directory, 'key', suites)).toMatch(/^2\d{3}-/);
  expect(passedAt(directory, 'another', suites)).toBeUndefined();
  expect(passedAt(directory, undefined, suites)).toBeUndefined();
  const later = new Date(Date.now() + 10_000);
  utimesSync(report, later, later);
  expect(passedAt(directory, 'key', suites)).toBeUndefined();
  utimesSync(report, 0, 0);
  notePassed(directory, undefined);
  expect(passedAt(directory, 'key', suites)).toBeUndefined();
});
