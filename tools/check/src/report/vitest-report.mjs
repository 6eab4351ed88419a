/** @import { Failure, Tally } from './tally.mjs' */
import { failureOf } from './tally.mjs';

/**
 * @typedef {object} File
 * @property {string} name its path
 * @property {string} status
 * @property {string} [message] why it failed as a whole
 * @property {{ fullName: string, status: string, failureMessages?: string[] }[]} assertionResults
 *
 * @typedef {object} OutsideError an error that no test caught: a rejected promise, a worker that ended
 * @property {string} [type]
 * @property {string} [message]
 * @property {string} [stack]
 * @property {string} [during] the test that ran last
 * @property {string} [file] its file
 *
 * @typedef {object} Report
 * @property {boolean} success
 * @property {File[]} testResults
 * @property {OutsideError[]} [errors]
 */

/**
 * Reads the report of vitest's JSON reporter, to which vitest.base.ts adds the errors outside of the tests. A file that failed as a whole (it did not load, or its process died)
 * counts as one failure, since none of its tests may be in the report.
 * @param {string} text
 * @returns {Tally}
 */
export function readVitestReport(text) {
  const report = /** @type {Report} */ (JSON.parse(text));
  const tests = report.testResults.flatMap((file) => file.assertionResults);
  const failures = [...report.testResults.flatMap(failuresOf), ...outsideOf(report.errors ?? [])];
  if (failures.length === 0 && !report.success)
    failures.push(failureOf({ name: 'the run as a whole', message: '', target: '' }));
  return {
    passed: tests.filter((test) => test.status === 'passed').length,
    failed: failures.length,
    skipped: tests.filter((test) => test.status !== 'passed' && test.status !== 'failed').map((test) => test.fullName),
    failures,
  };
}

/**
 * @param {File} file
 * @returns {Failure[]}
 */
function failuresOf(file) {
  const failed = file.assertionResults.filter((test) => test.status === 'failed');
  if (failed.length > 0)
    return failed.map(({ fullName, failureMessages = [] }) =>
      failureOf({ name: fullName, message: failureMessages.join('\n'), target: file.name }),
    );
  if (file.status !== 'failed') return [];
  return [failureOf({ name: file.name, message: file.message ?? '', target: file.name })];
}

/**
 * One failure for all of them, since one cause has often thousands. It counts as a crash: there is no test to run again.
 * @param {OutsideError[]} errors
 * @returns {Failure[]}
 */
function outsideOf(errors) {
  const [first] = errors;
  if (first === undefined) return [];
  const { type = 'Error', message = '', stack = message, during = 'no test', file = '' } = first;
  const more = errors.length > 1 ? ` (the first of ${errors.length})` : '';
  const name = `${type} outside of the tests${more}, while ${during} ran, ${file}`;
  return [{ ...failureOf({ name, message: stack, target: '' }), crashed: true }];
}
