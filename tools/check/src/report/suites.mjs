/** @import { Tally } from './tally.mjs' */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { packageDirectories, root } from '../../../setup/src/paths.mjs';
import { readCtestReport } from './ctest-report.mjs';
import { readVitestReport } from './vitest-report.mjs';

/** Each runner that a package's scripts may call, and the report it leaves in test-results/. */
const runners = [
  { runner: 'vitest', word: /\bvitest\b/, file: 'vitest.json', read: readVitestReport },
  { runner: 'ctest', word: /\bctest\b/, file: 'ctest.xml', read: readCtestReport },
];

/**
 * @typedef {object} Suite
 * @property {string} name the package's folder and the runner
 * @property {string} report the path of its report
 * @property {(text: string) => Tally} read
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
      .map(({ runner, file, read }) => ({
        name: `${relative(root, directory)} (${runner})`,
        report: join(directory, 'test-results', file),
        read,
      }));
  });
}

/** Old reports must not speak for a suite that does not run this time. */
export function removeOldReports() {
  for (const { report } of expectedSuites()) rmSync(report, { force: true });
}

/**
 * The result of a suite. A suite without a report or without a test counts as one failure, with a remark.
 * @param {Suite} suite
 * @returns {Tally & { remark?: string }}
 */
export function resultOf({ report, read }) {
  if (!existsSync(report)) return { passed: 0, failed: 1, skipped: [], remark: 'it left no report' };
  const tally = read(readFileSync(report, 'utf8'));
  if (tally.passed + tally.failed === 0) return { ...tally, failed: 1, remark: 'it ran no test' };
  return tally;
}
