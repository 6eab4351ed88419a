/** @import { Failure, Tally } from './tally.mjs' */
import { failureOf } from './tally.mjs';

/**
 * @typedef {object} File
 * @property {string} name its path
 * @property {string} status
 * @property {string} [message] why it failed as a whole
 * @property {{ fullName: string, status: string, failureMessages?: string[] }[]} assertionResults
 *
 * @typedef {object} Report
 * @property {boolean} success
 * @property {File[]} testResults
 */

/**
 * Reads the report of vitest's JSON reporter. A file that failed as a whole (it did not load, or its process died)
 * counts as one failure, since none of its tests may be in the report.
 * @param {string} text
 * @returns {Tally}
 */
export function readVitestReport(text) {
  const report = /** @type {Report} */ (JSON.parse(text));
  const tests = report.testResults.flatMap((file) => file.assertionResults);
  const failures = report.testResults.flatMap(failuresOf);
  // An error outside of any test fails the run, too.
  if (failures.length === 0 && !report.success)
    failures.push(failureOf({ name: 'an error outside of the tests', message: '', target: '' }));
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
