import { describe, expect, it } from 'vitest';
import { readCtestReport } from '../src/report/ctest-report.mjs';

const program = (name: string, status: string, output: string) =>
  `<testcase name="${name}" classname="${name}" time="0.1" status="${status}"><system-out>${output}</system-out></testcase>`;

const doctest = (passed: number, failed: number, skipped = 0) =>
  `[doctest] test cases: ${passed + failed} | ${passed} passed | ${failed} failed | ${skipped} skipped`;

describe('readCtestReport', () => {
  it('counts the cases of doctest programs, and any other program as one', () => {
    const xml = program('wire', 'run', doctest(12, 0)) + program('toy', 'run', 'hello');
    expect(readCtestReport(xml)).toEqual({ passed: 13, failed: 0, skipped: [] });
  });

  it('counts failed cases', () => {
    expect(readCtestReport(program('nic', 'fail', doctest(3, 2)))).toEqual({ passed: 3, failed: 2, skipped: [] });
  });

  it('counts a crashed program as a failure though its cases were not counted', () => {
    expect(readCtestReport(program('nic', 'fail', 'Segmentation fault'))).toEqual({
      passed: 0,
      failed: 1,
      skipped: [],
    });
    expect(readCtestReport(program('nic', 'fail', doctest(3, 0)))).toEqual({ passed: 3, failed: 1, skipped: [] });
  });

  it('names what did not run', () => {
    expect(readCtestReport('<testcase name="abi" status="notrun"/>')).toEqual({
      passed: 0,
      failed: 0,
      skipped: ['abi'],
    });
  });

  it('names the cases of doctest that did not run', () => {
    const message = '../native/test/setup/registry_test.cc:290: MESSAGE: skipped: mounting is not permitted\n';
    expect(readCtestReport(program('errors', 'run', message + doctest(3, 0, 2)))).toEqual({
      passed: 2,
      failed: 0,
      skipped: ['errors: mounting is not permitted', 'errors: 2 cases whose doctest::skip() holds here'],
    });
  });

  it('finds nothing in an empty report', () => {
    expect(readCtestReport('<testsuite tests="0"></testsuite>')).toEqual({ passed: 0, failed: 0, skipped: [] });
  });
});
