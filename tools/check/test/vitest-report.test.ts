import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../../setup/src/paths.mjs';
import { readVitestReport } from '../src/report/vitest-report.mjs';

const report = (success: boolean, files: [string, string[]][], message = 'AssertionError: 1 is not 2') =>
  JSON.stringify({
    success,
    testResults: files.map(([status, tests]) => ({
      name: 'a.test.ts',
      status,
      message,
      assertionResults: tests.map((test, index) => ({
        fullName: `test ${index}`,
        status: test,
        failureMessages: test === 'failed' ? [message] : [],
      })),
    })),
  });

describe('readVitestReport', () => {
  it('counts passed, failed and skipped tests', () => {
    const text = report(false, [['failed', ['passed', 'failed', 'skipped', 'todo']]]);
    expect(readVitestReport(text)).toMatchObject({ passed: 1, failed: 1, skipped: ['test 2', 'test 3'] });
  });

  it('counts a file that did not load as one failure', () => {
    expect(readVitestReport(report(false, [['failed', []]]))).toMatchObject({ passed: 0, failed: 1, skipped: [] });
  });

  it('counts a run that failed without a failed test as one failure', () => {
    const tally = readVitestReport(report(false, [['passed', ['passed']]]));
    expect(tally).toMatchObject({ passed: 1, failed: 1, skipped: [], failures: [{ crashed: true }] });
  });

  it('counts errors outside of the tests as one failure, and tells the first', () => {
    const folder = mkdtempSync(join(root, 'tools/check/test-results-'));
    try {
      writeFileSync(
        join(folder, 'a.test.ts'),
        `import { test } from 'vitest';
         test('leaves promises', async () => {
           for (const n of [1, 2]) void Promise.reject(new RangeError('lost ' + n));
           await new Promise((done) => setTimeout(done, 200));
         });`,
      );
      writeFileSync(
        join(folder, 'vitest.config.ts'),
        `import base from '${root}/vitest.base.ts';
         export default { ...base, test: { ...base.test, include: ['a.test.ts'] } };`,
      );
      const run = spawnSync(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), 'run'], {
        cwd: folder,
        encoding: 'utf8',
      });
      expect(run.status, run.stderr).toBe(1);
      const tally = readVitestReport(readFileSync(join(folder, 'test-results/vitest.json'), 'utf8'));
      expect(tally).toMatchObject({ passed: 1, failed: 1, failures: [{ crashed: true, target: '' }] });
      expect(tally.failures[0]?.name).toMatch(
        /^Unhandled Rejection outside of the tests \(the first of 2\), while leaves promises ran, .*a\.test\.ts$/,
      );
      expect(tally.failures[0]?.why).toContain('RangeError: lost 1');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('tells what failed and why', () => {
    const { failures } = readVitestReport(report(false, [['failed', ['passed', 'failed']]]));
    const why = 'AssertionError: 1 is not 2';
    expect(failures).toEqual([{ name: 'test 1', why, target: 'a.test.ts', crashed: false }]);
  });

  it('knows a crash from a wrong result', () => {
    const crashed = (message: string) => readVitestReport(report(false, [['failed', ['failed']]], message)).failures[0];
    expect(crashed("expected 'SIGSEGV' to be null")).toMatchObject({ crashed: true });
    expect(crashed('expected 139 to be 0')).toMatchObject({ crashed: true });
    expect(crashed('ERROR: AddressSanitizer: heap-use-after-free')).toMatchObject({ crashed: true });
    expect(crashed('expected 1392 to be 0')).toMatchObject({ crashed: false });
    expect(readVitestReport(report(false, [['failed', []]], '')).failures).toMatchObject([{ crashed: true }]);
    expect(readVitestReport(report(false, [['failed', []]], 'Hook timed out')).failures).toMatchObject([
      { crashed: false },
    ]);
  });
});
