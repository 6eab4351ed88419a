// `npm run trial shm`: the tests that have two ends, over shared memory instead of UDP, and an adversary that shares memory
// with other processes.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { packageDirectories } from '../../tools/setup/src/paths.mjs';
import { setUp } from '../../tools/setup/src/set-up.mjs';
import { exitStatus, mustRun } from '../../tools/setup/src/shell.mjs';
import { runCommand } from '../../tools/check/src/command.mjs';
import { buildSoft, softBuild } from './src/soft-programs.mjs';

const usage = `Usage: npm run trial shm -- [--seconds N] [--seed N] [--only-adversary]

Runs the tests of the software NIC's C functions, those of real processes, and the suites of @verbs/core and
@verbs/doca-comm with VERBS_SOFT_LINK=shm; then an adversary that writes random values into the memory that it shares with
three other processes. npm test has all of it, with 3 seconds of the adversary.

  --seconds N       of the adversary; 60 if not given
  --seed N          of the adversary; a new one if not given
  --only-adversary  no other test
  --help            print this text`;

/** @param {string[]} args */
function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: 'string', default: '60' },
      seed: { type: 'string' },
      'only-adversary': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  for (const name of /** @type {const} */ (['seconds', 'seed'])) {
    if (values[name] !== undefined && !/^\d+$/.test(values[name]))
      throw new TypeError(`--${name} ${values[name]}: give a whole number`);
  }
  return values;
}

/** Whether the package's tests have a project for each link. @param {string} directory */
function runsOnEachLink(directory) {
  const path = join(directory, 'vitest.config.ts');
  return existsSync(path) && readFileSync(path, 'utf8').includes('vitest.links');
}

/** @param {ReturnType<typeof readOptions>} options */
function testShm({ seconds, seed, 'only-adversary': onlyAdversary }) {
  const env = { ...setUp({ forTests: true }), VERBS_SOFT_LINK: 'shm' };
  buildSoft(env);
  let status = 0;
  if (!onlyAdversary) {
    status |= exitStatus('ctest', ['--test-dir', softBuild, '--output-on-failure', '-R', '(_shm|fault_processes)$'], {
      env,
    });
    for (const directory of packageDirectories().filter(runsOnEachLink)) {
      mustRun('pnpm', ['--dir', directory, 'run', 'build:test'], { env });
      status |= exitStatus('pnpm', ['--dir', directory, 'exec', 'vitest', 'run', '--project', 'shm*'], { env });
    }
  }
  const args = seed === undefined ? [seconds] : [seconds, seed];
  status |= exitStatus(join(softBuild, 'shm_adversary'), args, { env });
  return status === 0 ? 0 : 1;
}

await runCommand({ name: 'shm', usage, read: readOptions, run: testShm });
