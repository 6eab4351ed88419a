import { describe, expect, it } from 'vitest';
import { readCtestReport } from '../src/report/ctest-report.mjs';

const program = (name: string, status: string, output: string) =>
  `<testcase name="${name}" classname="${name}" time="0.1" status="${status}"><system-out>${output}</system-out></testcase>`;

const doctest = (passed: number, failed: number, skipped = 0) =>
  `[doctest] test cases: ${passed + failed} | ${passed} passed | ${failed} failed | ${skipped} skipped`;

describe('readCtestReport', () => {
  it('counts the cases of doctest programs, and any other program as one', () => {
    const xml = program('wire', 'run', doctest(12, 0)) + program('toy', 'run', 'hello');
    expect(readCtestReport(xml)).toMatchObject({ passed: 13, failed: 0, skipped: [] });
  });

  it('counts failed cases', () => {
    expect(readCtestReport(program('nic', 'fail', doctest(3, 2)))).toMatchObject({ passed: 3, failed: 2, skipped: [] });
  });

  it('counts a crashed program as a failure though its cases were not counted', () => {
    expect(readCtestReport(program('nic', 'fail', 'Segmentation fault'))).toMatchObject({
      passed: 0,
      failed: 1,
      skipped: [],
    });
    expect(readCtestReport(program('nic', 'fail', doctest(3, 0)))).toMatchObject({ passed: 3, failed: 1, skipped: [] });
  });

  it('names what did not run', () => {
    expect(readCtestReport('<testcase name="abi" status="notrun"/>')).toMatchObject({
      passed: 0,
      failed: 0,
      skipped: ['abi'],
    });
  });

  it('names the cases of doctest that did not run', () => {
    const message = '../native/test/setup/registry_test.cc:290: MESSAGE: skipped: mounting is not permitted\n';
    expect(readCtestReport(program('errors', 'run', message + doctest(3, 0, 2)))).toMatchObject({
      passed: 2,
      failed: 0,
      skipped: ['errors: mounting is not permitted', 'errors: 2 cases whose doctest::skip() holds here'],
    });
  });

  it('tells what failed and why, and knows a crash', () => {
    const output = 'x_test.cc:12: ERROR: CHECK( 1 == 2 ) is NOT correct!\n';
    expect(readCtestReport(program('nic', 'fail', output + doctest(3, 1))).failures).toEqual([
      { name: 'nic', why: 'x_test.cc:12: ERROR: CHECK( 1 == 2 ) is NOT correct!', target: '', crashed: false },
    ]);
    const crashed = '<testcase name="nic" status="fail"><failure message="SEGFAULT"/></testcase>';
    expect(readCtestReport(crashed).failures).toMatchObject([{ crashed: true }]);
  });

  it('finds nothing in an empty report', () => {
    expect(readCtestReport('<testsuite tests="0"></testsuite>')).toMatchObject({ passed: 0, failed: 0, skipped: [] });
  });
});
