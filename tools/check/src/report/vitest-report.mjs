/** @import { Tally } from './tally.mjs' */

/**
 * @typedef {object} Report
 * @property {boolean} success
 * @property {{ name: string, status: string, assertionResults: { fullName: string, status: string }[] }[]} testResults
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
  const brokenFiles = report.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  );
  const failed = tests.filter((test) => test.status === 'failed').length + brokenFiles.length;
  return {
    passed: tests.filter((test) => test.status === 'passed').length,
    // An error outside of any test fails the run, too.
    failed: failed === 0 && !report.success ? 1 : failed,
    skipped: tests.filter((test) => test.status !== 'passed' && test.status !== 'failed').map((test) => test.fullName),
  };
}
