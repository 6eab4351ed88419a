import { describe, expect, it } from 'vitest';
import { readVitestReport } from '../src/report/vitest-report.mjs';

const report = (success: boolean, files: [string, string[]][]) =>
  JSON.stringify({
    success,
    testResults: files.map(([status, tests]) => ({
      name: 'a.test.ts',
      status,
      assertionResults: tests.map((test, index) => ({ fullName: `test ${index}`, status: test })),
    })),
  });

describe('readVitestReport', () => {
  it('counts passed, failed and skipped tests', () => {
    const text = report(false, [['failed', ['passed', 'failed', 'skipped', 'todo']]]);
    expect(readVitestReport(text)).toEqual({ passed: 1, failed: 1, skipped: ['test 2', 'test 3'] });
  });

  it('counts a file that did not load as one failure', () => {
    expect(readVitestReport(report(false, [['failed', []]]))).toEqual({ passed: 0, failed: 1, skipped: [] });
  });

  it('counts an error outside of the tests as one failure', () => {
    expect(readVitestReport(report(false, [['passed', ['passed']]]))).toEqual({ passed: 1, failed: 1, skipped: [] });
  });
});
