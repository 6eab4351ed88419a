/** @import { Entry } from './log.mjs' */

/**
 * All runs of a suite together.
 * @typedef {object} Sum
 * @property {number} runs how often the suite ran
 * @property {number} failed how many of them failed
 * @property {Record<string, number>} figures the sums
 * @property {{ at: string, commit: string, command?: string, passed: boolean, figures: Record<string, number> }} last
 */

/** @typedef {Record<string, Sum>} Sums */

/**
 * Adds runs to sums; the given sums stay as they are.
 * @param {Sums} sums @param {Entry[]} entries
 * @returns {Sums}
 */
export function add(sums, entries) {
  const result = structuredClone(sums);
  for (const { suite, passed, figures, at, commit, command } of entries) {
    const last = { at, commit, ...(command === undefined ? {} : { command }), passed, figures };
    const sum = (result[suite] ??= { runs: 0, failed: 0, figures: {}, last });
    sum.runs++;
    if (!passed) sum.failed++;
    for (const [unit, count] of Object.entries(figures)) sum.figures[unit] = (sum.figures[unit] ?? 0) + count;
    if (at >= sum.last.at) sum.last = last;
  }
  return result;
}

/** One row for each figure of each suite. @param {Sums} sums */
export function rows(sums) {
  return Object.keys(sums)
    .sort()
    .flatMap((suite) => {
      const { figures, runs, failed, last } = /** @type {Sum} */ (sums[suite]);
      return Object.keys(figures)
        .sort()
        .map((unit) => ({
          suite,
          unit,
          total: figures[unit] ?? 0,
          last: last.figures[unit] ?? 0,
          runs,
          failed,
          at: last.at,
          commit: last.commit,
          command: last.command ?? '',
          passed: last.passed,
        }));
    });
}
