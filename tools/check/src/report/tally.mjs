/**
 * A test that failed, or a program or file of tests that failed as a whole.
 * @typedef {object} Failure
 * @property {string} name
 * @property {string} why the first lines of its message
 * @property {string} target what runs it again: the path of a file of vitest, or '' for ctest, which knows by itself
 * @property {boolean} crashed a process ended by a signal, a sanitizer's report, or a reason that is unknown
 */

/**
 * The result of a suite.
 * @typedef {object} Tally
 * @property {number} passed
 * @property {number} failed
 * @property {string[]} skipped the names of the tests that did not run
 * @property {Failure[]} failures
 */

/** What a process says, or is said of it, when native code went wrong. */
const crash =
  /SIG(SEGV|ABRT|BUS|ILL|FPE|TRAP)\b|SEGFAULT|Segmentation fault|core dumped|Subprocess aborted|Sanitizer|runtime error:|\b13[459]\b|Worker exited unexpectedly|double free|terminate called/;

/**
 * @param {{ name: string, message: string, target: string }} failure
 * @returns {Failure}
 */
export function failureOf({ name, message, target }) {
  const lines = message.split('\n').filter((line) => line.trim() !== '');
  return { name, why: lines.slice(0, 6).join('\n'), target, crashed: message === '' || crash.test(message) };
}

/**
 * @param {Tally[]} tallies
 * @returns {Tally}
 */
export function add(tallies) {
  return {
    passed: tallies.reduce((sum, tally) => sum + tally.passed, 0),
    failed: tallies.reduce((sum, tally) => sum + tally.failed, 0),
    skipped: tallies.flatMap((tally) => tally.skipped),
    failures: tallies.flatMap((tally) => tally.failures),
  };
}

/**
 * `12 passed, 0 failed`, and how many were skipped if any were.
 * @param {Tally} tally
 */
export function describe({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`;
}
