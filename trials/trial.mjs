// `npm run trial`: lists the suites that prove the product, and runs one by name.
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { table } from '../tools/check/src/reliability/table.mjs';
import { projectEnvironment } from '../tools/setup/src/environment.mjs';
import { root } from '../tools/setup/src/paths.mjs';
import { Problem } from '../tools/setup/src/problem.mjs';
import { runProgram } from '../tools/setup/src/program.mjs';
import { setUp } from '../tools/setup/src/set-up.mjs';
import { trials } from './trials.mjs';

const usage = `Usage: npm run trial                     the trials, what each proves, what it needs and how long it takes
       npm run trial NAME [-- OPTIONS]   runs one; npm run trial NAME -- --help prints its options`;

function list() {
  const rows = Object.entries(trials).map(([name, { proves, needs, takes }]) => [name, takes, proves, needs]);
  console.log(`${usage}\n\n${table(['trial', 'takes', 'proves that', 'needs'], rows)}`);
  return 0;
}

/** @param {string[]} args */
function runTrial([name = '', ...args]) {
  if (name === '' || name === '--help') return list();
  const trial = trials[name];
  if (trial === undefined) throw new Problem(`there is no trial ${name}; npm run trial lists them`);
  const help = args.includes('--help');
  const env = trial.ready === undefined || help ? projectEnvironment() : setUp({ forTests: trial.ready === 'tests' });
  const { status, error } = spawnSync(process.execPath, [...trial.command, ...args], {
    cwd: root,
    // What a suite calls itself in its log and its messages.
    env: { ...env, npm_lifecycle_event: `trial ${name}` },
    stdio: 'inherit',
  });
  if (error !== undefined) throw new Problem(`cannot run ${name}: ${error.message}`);
  return status ?? 1;
}

await runProgram('trial', () => runTrial(process.argv.slice(2)));
