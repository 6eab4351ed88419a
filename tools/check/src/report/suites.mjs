/** @import { Failure, Tally } from './tally.mjs' */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { packageDirectories, root } from '../../../setup/src/paths.mjs';
import { readCtestReport } from './ctest-report.mjs';
import { readVitestReport } from './vitest-report.mjs';

/** Each runner that a package's scripts may call, and the report it leaves in test-results/. */
const runners = [
  { runner: 'vitest', word: /\bvitest\b/, file: 'vitest.json', read: readVitestReport, again: vitestAgain },
  { runner: 'ctest', word: /\bctest\b/, file: 'ctest.xml', read: readCtestReport, again: ctestAgain },
];

/**
 * The command that runs failed tests of vitest again, each file in a process of its own.
 * @param {Failure[]} failures
 * @param {string} report
 */
function vitestAgain(failures, report) {
  const files = [...new Set(failures.map(({ target }) => target))];
  return ['vitest', 'run', ...files, '--maxWorkers=1', `--outputFile.json=${report}`];
}

/**
 * The command that runs failed programs of ctest again.
 * @param {Failure[]} _failures ctest has a list of its own
 * @param {string} report
 */
function ctestAgain(_failures, report) {
  return ['ctest', '--test-dir', 'build', '--rerun-failed', '--output-on-failure', '--output-junit', report];
}

/**
 * @typedef {object} Suite
 * @property {string} name the package's folder and the runner
 * @property {string} report the path of its report
 * @property {(text: string) => Tally} read
 * @property {string} directory the package's folder
 * @property {string} again the path of the report of a second attempt
 * @property {(failures: Failure[]) => string[]} secondAttempt the command that makes it, for the package's folder
 */

/**
 * The suites that a run of all tests must leave a report of. They are read from the packages' scripts, not from the
 * reports, so that a suite that never ran is missed.
 * @returns {Suite[]}
 */
export function expectedSuites() {
  return packageDirectories().flatMap((directory) => {
    const { scripts = {} } = /** @type {{ scripts?: Record<string, string> }} */ (
      JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
    );
    const commands = Object.entries(scripts).filter(([name]) => /^test(:|$)/.test(name));
    const text = commands.map(([, command]) => command).join('\n');
    return runners
      .filter(({ word }) => word.test(text))
      .map(({ runner, file, read, again }) => {
        const secondReport = join(directory, 'test-results', `again-${file}`);
        return {
          name: `${relative(root, directory)} (${runner})`,
          report: join(directory, 'test-results', file),
          read,
          directory,
          again: secondReport,
          /** @param {Failure[]} failures */
          secondAttempt: (failures) => again(failures, secondReport),
        };
      });
  });
}

/**
 * Old reports must not speak for the suites of packages that run this time.
 * @param {string[]} directories
 */
export function removeOldReports(directories) {
  for (const { directory, report, again } of expectedSuites()) {
    if (directories.includes(directory)) for (const file of [report, again]) rmSync(file, { force: true });
  }
}

/**
 * The result of a suite. A suite without a report or without a test counts as one failure.
 * @param {Pick<Suite, 'name' | 'report' | 'read'>} suite
 * @returns {Tally}
 */
export function resultOf({ name, report, read }) {
  if (!existsSync(report)) return broken(name, 'it left no report');
  const tally = read(readFileSync(report, 'utf8'));
  if (tally.passed + tally.failed === 0) return { ...broken(name, 'it ran no test'), skipped: tally.skipped };
  return tally;
}

/**
 * @param {string} name
 * @param {string} why
 * @returns {Tally}
 */
function broken(name, why) {
  return { passed: 0, failed: 1, skipped: [], failures: [{ name, why, target: '', crashed: true }] };
}
