/** @import { Tally } from './report/tally.mjs' */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { basename, delimiter, dirname, join, relative } from 'node:path';
import { fetchNode } from '../../setup/src/node-package.mjs';
import { packageDirectories, root, toolsDirectory } from '../../setup/src/paths.mjs';
import { Problem } from '../../setup/src/problem.mjs';
import { exitStatus } from '../../setup/src/shell.mjs';
import { readVitestReport } from './report/vitest-report.mjs';

/** The oldest release line that the packages promise, those with long-term support, and the newest even one. */
export const releases = ['20.20.2', '22.23.3', '24.21.0', '26.10.0'];

const vitest = join(root, 'node_modules/vitest/vitest.mjs');

/**
 * The program of a release, fetched if it is not there.
 * @param {string} version
 */
function nodeProgram(version) {
  const directory = join(toolsDirectory, `node-${version}`);
  const program = join(directory, 'bin/node');
  if (!existsSync(program)) {
    console.error(`nodes: fetching Node ${version} from npm`);
    fetchNode({ version, part: 'bin/node', into: directory });
  }
  return program;
}

/** @param {string[] | undefined} wanted the names of their folders */
function packagesWithTests(wanted) {
  const all = packageDirectories().filter(
    (directory) => dirname(directory) === join(root, 'packages') && existsSync(join(directory, 'vitest.config.ts')),
  );
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
      : { passed: 0, failed: 1, skipped: [] };
    const failed = status !== 0 && tally.failed === 0 ? 1 : tally.failed;
    return { node: version, name, ...tally, failed };
  });
}
