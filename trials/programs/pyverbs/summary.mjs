/**
 * The result of each test, by its name in the suite.
 * @typedef {Record<string, { outcome: 'passed' | 'skipped' | 'failed', reason: string }>} Outcomes
 */

/**
 * @typedef {object} Summary
 * @property {number} passed
 * @property {number} skipped without the required tests
 * @property {number} failed with the required tests that did not pass
 * @property {string[]} lines every skipped test with its reason, and what is wrong
 */

/**
 * Adds up a run of the suite. A run without a passed test has failed, too.
 * @param {Outcomes} outcomes
 * @param {string[]} required the tests that must pass
 * @returns {Summary}
 */
export function summarize(outcomes, required) {
  const names = Object.keys(outcomes).sort();
  const missed = new Set(required.filter((name) => (outcomes[name]?.outcome ?? 'skipped') === 'skipped'));
  /** @param {'passed' | 'skipped' | 'failed'} outcome */
  const withOutcome = (outcome) => names.filter((name) => outcomes[name]?.outcome === outcome && !missed.has(name));

  const passed = withOutcome('passed');
  const skipped = withOutcome('skipped');
  const failed = withOutcome('failed');
  /** @param {string} name */
  const reason = (name) => outcomes[name]?.reason ?? 'there is no such test';
  const lines = [
    ...skipped.map((name) => `skipped: ${name}: ${reason(name)}`),
    ...failed.map((name) => `failed: ${name}: ${reason(name)}`),
    ...[...missed].sort().map((name) => `must pass: ${name}: ${reason(name)}`),
  ];
  if (passed.length === 0) lines.push('failed: not one test passed');
  return {
    passed: passed.length,
    skipped: skipped.length,
    failed: failed.length + missed.size + (passed.length === 0 ? 1 : 0),
    lines,
  };
}
