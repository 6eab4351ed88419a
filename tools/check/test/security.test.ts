// Each promise of SECURITY.md has a test: the files that it names, and the cases in them.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const text = readFileSync(join(root, 'SECURITY.md'), 'utf8');
const lines = text.split('\n');
const cells = (line: string) => line.split('|').map((cell) => cell.trim());

/** The rows of the tables whose last column is the test. */
const promises = lines.flatMap((line, at) => {
  const head = cells(line).at(-2);
  if (!line.startsWith('|') || head !== 'test') return [];
  const rows = lines.slice(at + 2);
  const end = rows.findIndex((row) => !row.startsWith('|'));
  return rows.slice(0, end).map((row) => ({ promise: String(cells(row)[1]), test: String(cells(row).at(-2)) }));
});

it('finds the promises', () => {
  expect(promises.length).toBeGreaterThan(15);
});

it('names a test for each promise, and one that is there', () => {
  let before = '';
  for (const { promise, test } of promises) {
    expect(test, promise).not.toBe('');
    const path = /`(packages\/[^`]+)`/.exec(test)?.[1] ?? (test.startsWith('the same') ? before : undefined);
    // The kernel's own promises, and targets of the fuzzer.
    if (path === undefined) expect(test, promise).toMatch(/^the (kernel's|fuzz target)/);
    else expect(existsSync(join(root, path)), path).toBe(true);
    before = path ?? before;
  }
});

it('names cases that are in their files', () => {
  for (const [, path = '', name = ''] of text.matchAll(/`(packages\/[^`]+)` \("([^"]+)"\)/g)) {
    expect(statSync(join(root, path)).isFile(), path).toBe(true);
    expect(readFileSync(join(root, path), 'utf8'), path).toContain(name);
  }
});
