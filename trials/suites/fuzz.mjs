// `npm run trial fuzz`: builds the fuzz targets of the packages with libFuzzer and the sanitizers, and runs them for
// a while.
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { setUp } from '../../tools/setup/src/set-up.mjs';
import { runCommand } from '../../tools/check/src/command.mjs';
import { buildTargets, targetNames } from './src/fuzz/build.mjs';
import { coverageTable, writeTable } from './src/fuzz/coverage.mjs';
import { totalOf } from './src/fuzz/counts.mjs';
import { refresh } from './src/fuzz/refresh.mjs';
import { runToGoals } from './src/fuzz/goals.mjs';
import { runAll } from './src/fuzz/schedule.mjs';

const usage = `Usage: npm run trial fuzz -- [--minutes M] [--target NAME]… [--jobs N] [--goals] [--built]
       npm run trial fuzz -- --refresh [--target NAME]…
       npm run trial fuzz -- --coverage [--write] [--target NAME]…

Runs every fuzz target of packages/*/native/fuzz for M minutes altogether. Each has an equal share
of the time; a target that has made a million executions leaves the rest of its share to the next ones. The NIC's own
target comes last and takes all the time that is left, on every processor. Seven eighths of a target's time go to a form of
it without sanitizers, which is several times faster; the rest to the form with them, which begins with all inputs that the
other one discovered. A run begins with the committed seeds
(native/fuzz/seeds), the regressions (native/fuzz/regressions) and the inputs that earlier runs discovered, in the
package's build/fuzz/corpus. packages/soft/native/fuzz/README.md says how to triage a crash.

  --minutes M     the time for all targets together, without the build; 5 if not given
  --target NAME   only this target, for all of the time (may be repeated): ${targetNames().join(', ')}
  --goals         the target that needs least time to its goal comes first, then the next one, two minutes each:
                  10^8 executions of a parser, 10^7 of what has a state, in all recorded runs (npm run trial reliability)
  --jobs N        how many run at once; the number of processors if not given
  --built         run the programs that an earlier run built, as they are: for the next of many runs
  --json          print a JSON document with the executions of this run and of all runs of this checkout
  --refresh       do not fuzz; merge the discovered inputs into the seed archives
  --coverage      do not fuzz; replay all known inputs, and print which lines and edges of each room they reach
  --write         put that table into packages/soft/native/fuzz/README.md
  --help          print this text`;

/** @param {string[]} args */
function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      minutes: { type: 'string', default: '5' },
      target: { type: 'string', multiple: true, default: [] },
      jobs: { type: 'string', default: String(availableParallelism()) },
      goals: { type: 'boolean', default: false },
      built: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      refresh: { type: 'boolean', default: false },
      coverage: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const minutes = Number(values.minutes);
  const jobs = Number(values.jobs);
  if (!(minutes > 0)) throw new TypeError(`--minutes ${values.minutes}: not a time; give a number above 0`);
  if (!Number.isInteger(jobs) || jobs < 1) throw new TypeError(`--jobs ${values.jobs}: give a whole number above 0`);
  const unknown = values.target.find((name) => !targetNames().includes(name));
  if (unknown !== undefined) {
    throw new TypeError(`--target ${unknown}: there is no such target; there are ${targetNames().join(', ')}`);
  }
  const targets = values.target.length > 0 ? values.target : targetNames();
  if (values.write && !values.coverage) throw new TypeError('--write: only with --coverage');
  if (values.built && (values.refresh || values.coverage)) throw new TypeError('--built: only to fuzz');
  const { help, goals, built, json, refresh, coverage, write } = values;
  return { minutes, jobs, targets, help, goals, built, json, refresh, coverage, write };
}

/**
 * Builds what the options ask for, and does what is not fuzzing.
 * @param {ReturnType<typeof readOptions>} options
 * @returns {boolean} whether to fuzz
 */
function prepare(options) {
  const env = setUp({ forTests: false });
  if (options.coverage) {
    const table = coverageTable(options.targets, env);
    console.log(table);
    if (options.write) writeTable(table);
    return false;
  }
  buildTargets(options.targets, 'checked', env);
  if (options.refresh) {
    for (const target of options.targets) {
      const { before, after } = refresh(target);
      console.log(`${target}: ${after} seeds, ${before} before`);
    }
    return false;
  }
  buildTargets(options.targets, 'fast', env);
  return true;
}

/** @param {ReturnType<typeof readOptions>} options */
async function fuzz(options) {
  if (!options.built && !prepare(options)) return 0;
  const results = await (options.goals ? runToGoals(options) : runAll(options));
  const crashes = results.filter(({ crash }) => crash !== undefined);
  const total = results.reduce((sum, { executions }) => sum + executions, 0);
  if (options.json) {
    const rows = results.map(({ name, executions, fast, seconds, crash }) => ({
      target: name,
      executions,
      fast,
      seconds,
      total: totalOf(name),
      crash: crash?.command ?? null,
    }));
    console.log(JSON.stringify({ executions: total, targets: rows }, null, 2));
  }
  console.error(
    `\n${results.length} targets, ${total.toLocaleString('en')} executions, ${crashes.length} with a crash`,
  );
  return crashes.length === 0 ? 0 : 1;
}

await runCommand({ name: 'fuzz', usage, read: readOptions, run: fuzz });
