// `npm run fuzz`: builds the fuzz targets of @verbs/soft, @verbs/mlx5 and @verbs/doca-comm with libFuzzer and the
// sanitizers, and runs them for a while.
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { setUp } from '../setup/src/set-up.mjs';
import { runCommand } from './src/command.mjs';
import { buildTargets, targetNames } from './src/fuzz/build.mjs';
import { runAll } from './src/fuzz/schedule.mjs';

const usage = `Usage: npm run fuzz -- [--minutes M] [--target NAME]… [--jobs N]

Runs every fuzz target of packages/{soft,mlx5,doca-comm}/native/fuzz for M minutes altogether. Each has an equal share
of the time; a target that has made a million executions leaves the rest of its share to those after it. The NIC's own
target comes last and takes all that is left, on every processor. What the targets discover stays in the package's
build/fuzz/corpus and is where the next run begins; the committed corpus is its native/fuzz/corpus.

  --minutes M     how long all of it may take, without the build; 5 if not given
  --target NAME   only this target, for all of the time (may be repeated): ${targetNames().join(', ')}
  --jobs N        how many run at once; as many as there are processors if not given
  --help          print this text`;

/** @param {string[]} args */
function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      minutes: { type: 'string', default: '5' },
      target: { type: 'string', multiple: true, default: [] },
      jobs: { type: 'string', default: String(availableParallelism()) },
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
  return { minutes, jobs, help: values.help, targets: values.target.length > 0 ? values.target : targetNames() };
}

/** @param {ReturnType<typeof readOptions>} options */
async function fuzz(options) {
  buildTargets(options.targets, setUp({ forTests: false }));
  const results = await runAll(options);
  const crashes = results.filter(({ crash }) => crash !== undefined);
  const total = results.reduce((sum, { executions }) => sum + executions, 0);
  console.log(`\n${results.length} targets, ${total.toLocaleString('en')} executions, ${crashes.length} with a crash`);
  return crashes.length === 0 ? 0 : 1;
}

await runCommand({ name: 'fuzz', usage, read: readOptions, run: fuzz });
