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

test('a package of the product has a key, which changes with its content and with the tests of the NIC', () => {
  const soft = task('packages/soft', 'a', []);
  const before = keys(soft, task('packages/hbl', 'b'));
  const hbl = join(root, 'packages/hbl');
  expect([...before.keys()]).toEqual([join(root, 'packages/soft'), hbl]);
  expect(keys(soft, task('packages/hbl', 'b'))).toEqual(before);
  expect(keys(soft, task('packages/hbl', 'c')).get(hbl)).not.toBe(before.get(hbl));
  expect(keys(task('packages/soft', 'c', []), task('packages/hbl', 'b')).get(hbl)).not.toBe(before.get(hbl));
});

test('what reads files of other packages has none, nor has anything without a plan of turbo', () => {
  const others = [task('trials/bench', 'b'), task('tools/check', 'c', []), task('packages/native-files', 'd', [])];
  expect([...keys(task('packages/soft', 'a', []), ...others).keys()]).toEqual([join(root, 'packages/soft')]);
  expect(keys(task('packages/hbl', 'b')).size).toBe(0);
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
