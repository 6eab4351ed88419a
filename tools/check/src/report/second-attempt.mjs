/** @import { Failure, Tally } from './tally.mjs' */
/** @import { Suite } from './suites.mjs' */
import { resultOf } from './suites.mjs';

/** More failures than this in a suite are no accident. */
const limit = 3;

/**
 * Runs the failed tests of a suite once more, alone. Tests of several real processes can fail because a busy machine gave
 * one of them no processor for seconds. Such a test passes the second time: it is reported as unsteady, and does not
 * fail the run. No second attempt is made for a crash, a sanitizer's report, an error outside of the tests, or when more
 * than a few tests failed.
 * @param {Suite} suite
 * @param {Tally} first
 * @param {(command: string[], directory: string) => void} run runs a command, whose report tells how it ended
 * @returns {Tally & { unsteady: Failure[] }}
 */
export function withSecondAttempt(suite, first, run) {
  const { failures } = first;
  if (failures.length === 0 || failures.length > limit || failures.some(({ crashed }) => crashed))
    return { ...first, unsteady: [] };
  run(suite.secondAttempt(failures), suite.directory);
  const second = resultOf({ ...suite, report: suite.again });
  if (second.failed > 0) return { ...first, failures: second.failures, unsteady: [] };
  return { ...first, passed: first.passed + first.failed, failed: 0, failures: [], unsteady: failures };
}
