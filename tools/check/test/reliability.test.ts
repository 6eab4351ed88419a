import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { importLogs, readLog, record } from '../src/reliability/log.mjs';
import { add, rows } from '../src/reliability/sums.mjs';

test('runs are added up by suite and unit, and a line that was cut off is left out', () => {
  const directory = mkdtempSync(join(tmpdir(), 'reliability-'));
  onTestFinished(() => {
    rmSync(directory, { recursive: true });
  });
  const path = join(directory, 'log.jsonl');
  record({ suite: 'chaos', passed: true, figures: { runs: 10, kills: 1 } }, path);
  record({ suite: 'chaos', passed: false, figures: { runs: 5, kills: 0 } }, path);
  appendFileSync(path, '{"suite":"chaos","fig');
  const entries = readLog(path);
  expect(entries).toHaveLength(2);
  const sums = add({}, entries);
  expect(sums['chaos']).toMatchObject({ runs: 2, failed: 1, figures: { runs: 15, kills: 1 } });
  expect(add(sums, entries)['chaos']).toMatchObject({ runs: 4, figures: { runs: 30 } });
  expect(entries[0]?.command).toMatch(/^(npm run|node) /);
  const other = join(directory, 'other.jsonl');
  record({ suite: 'chaos', passed: true, figures: { runs: 1 } }, other);
  expect([importLogs([other, path], path), importLogs([other], path)]).toEqual([1, 0]);
  expect(add({}, readLog(path))['chaos']).toMatchObject({ runs: 3, figures: { runs: 16 } });
  expect(() => importLogs([join(directory, 'none.jsonl')], path)).toThrow(/none\.jsonl: there is no such log/);
  expect(rows(sums).map(({ unit, total, last, passed }) => [unit, total, last, passed])).toEqual([
    ['kills', 1, 0, false],
    ['runs', 15, 5, false],
  ]);
});
