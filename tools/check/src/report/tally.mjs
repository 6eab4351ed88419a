/**
 * The result of a suite.
 * @typedef {object} Tally
 * @property {number} passed
 * @property {number} failed
 * @property {string[]} skipped the names of the tests that did not run
 */

/**
 * @param {Tally[]} tallies
 * @returns {Tally}
 */
export function add(tallies) {
  return {
    passed: tallies.reduce((sum, tally) => sum + tally.passed, 0),
    failed: tallies.reduce((sum, tally) => sum + tally.failed, 0),
    skipped: tallies.flatMap((tally) => tally.skipped),
  };
}

/**
 * `12 passed, 0 failed`, and how many were skipped if any were.
 * @param {Tally} tally
 */
export function describe({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`;
}
