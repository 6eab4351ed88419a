/** @import { Tally } from '../../../tools/check/src/report/tally.mjs' */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { basename, delimiter, dirname, join, relative } from 'node:path';
import { nodeProgram } from '../../../tools/setup/src/node-releases.mjs';
import { libraryPackages } from '../../../tools/setup/src/packages.mjs';
import { root } from '../../../tools/setup/src/paths.mjs';
import { Problem } from '../../../tools/setup/src/problem.mjs';
import { exitStatus } from '../../../tools/setup/src/shell.mjs';
import { readVitestReport } from '../../../tools/check/src/report/vitest-report.mjs';

const vitest = join(root, 'node_modules/vitest/vitest.mjs');

/** @param {string[] | undefined} wanted the names of their folders */
function packagesWithTests(wanted) {
  const all = libraryPackages().map(({ folder }) => folder);
  const missing = wanted?.find((name) => !all.some((directory) => basename(directory) === name));
  if (missing !== undefined) {
    throw new Problem(`no package ${missing}; there are ${all.map((directory) => basename(directory)).join(', ')}`);
  }
  return all.filter((directory) => wanted?.includes(basename(directory)) ?? true);
}

/**
 * Runs the packages' tests on a release of Node; programs that they start get the same one.
 * @param {string} version
 * @param {string[] | undefined} wanted
 * @param {NodeJS.ProcessEnv} env
 * @returns {(Tally & { node: string, name: string })[]}
 */
export function testOn(version, wanted, env) {
  const program = nodeProgram(version);
  const withNode = { ...env, PATH: `${dirname(program)}${delimiter}${env['PATH'] ?? ''}` };
  return packagesWithTests(wanted).map((directory) => {
    const name = relative(root, directory);
    const report = join(directory, `test-results/vitest-node-${version}.json`);
    rmSync(report, { force: true });
    console.error(`nodes: ${name} on Node ${version}`);
    // Debian's programs have no JavaScript in them: they are the same on every Node.
    const args = [vitest, 'run', '--exclude', 'test/programs/**', `--outputFile.json=${report}`];
    const status = exitStatus(program, args, { cwd: directory, env: withNode });
    const tally = existsSync(report)
      ? readVitestReport(readFileSync(report, 'utf8'))
      : { passed: 0, failed: 1, skipped: [], failures: [] };
    const failed = status !== 0 && tally.failed === 0 ? 1 : tally.failed;
    return { node: version, name, ...tally, failed };
  });
}
