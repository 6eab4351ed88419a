// `npm run trial hostile`: random sequences of calls of @verbs/core or @verbs/doca-comm with hostile arguments, under
// AddressSanitizer.
import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { setUp } from '../../tools/setup/src/set-up.mjs';
import { runCommand } from '../../tools/check/src/command.mjs';
import { buildSanitized } from './src/hostile/build.mjs';
import { record } from '../../tools/check/src/reliability/log.mjs';
import { runShare } from './src/hostile/run.mjs';

const usage = `Usage: npm run trial hostile -- [--package NAME] [--seed N] [--sequences N] [--jobs N]

Random sequences of calls of everything that a package exports, over the software NIC, with wrong types and orders, closed
and foreign objects, proxies, getters that throw or close things in the midst of a call, buffers that are detached and
resized, collections of garbage, the data path included. The addon, the NIC and the model of a BlueField are built with
AddressSanitizer and UndefinedBehaviorSanitizer for it. Every call must return, or throw the package's error, a TypeError
or a RangeError; every promise must settle; at the end nothing may be left over. A sequence that fails is told with its
seed and its calls.

  --package NAME  core, which is @verbs/core, or doca-comm, which is @verbs/doca-comm; core if not given
  --seed N        a seed of your own; a new one if not given
  --sequences N   how many; 10000 if not given
  --jobs N        how many processes share them; as many as there are processors if not given
  --help          print this text`;

/** The packages, and the class of their own errors. */
const errors = { core: 'VerbsError', 'doca-comm': 'DocaError' };

/** @param {string} name @returns {name is keyof typeof errors} */
const isPackage = (name) => Object.hasOwn(errors, name);

/** @param {string[]} args */
function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      package: { type: 'string', default: 'core' },
      seed: { type: 'string', default: randomBytes(4).readUInt32LE().toString() },
      sequences: { type: 'string', default: '10000' },
      jobs: { type: 'string', default: String(availableParallelism()) },
      help: { type: 'boolean', default: false },
    },
  });
  for (const name of /** @type {const} */ (['seed', 'sequences', 'jobs'])) {
    if (!/^\d+$/.test(values[name])) throw new TypeError(`--${name} ${values[name]}: give a whole number`);
  }
  const { package: name } = values;
  if (!isPackage(name)) throw new TypeError(`--package ${name}: give ${Object.keys(errors).join(' or ')}`);
  const [sequences, jobs] = [Number(values.sequences), Number(values.jobs)];
  if (sequences < 1 || jobs < 1) throw new TypeError('--sequences and --jobs: give a number above 0');
  return { ...values, name, sequences, jobs: Math.min(jobs, sequences) };
}

/** @param {number[]} done @param {number} sequences */
function show(done, sequences) {
  const total = done.reduce((sum, each) => sum + each, 0);
  const line = `hostile: ${total} of ${sequences} sequences`;
  if (process.stderr.isTTY) process.stderr.write(`\r${line}`);
  else console.error(line);
}

/** @param {ReturnType<typeof readOptions>} options */
async function testHostile(options) {
  const { name, seed, sequences, jobs } = options;
  const main = buildSanitized(name, setUp({ forTests: true }));
  console.error(`hostile: @verbs/${name}, seed ${seed}`);
  const begin = Date.now();
  /** @type {number[]} */
  const done = Array.from({ length: jobs }, () => 0);
  const ticker = setInterval(
    () => {
      show(done, sequences);
    },
    process.stderr.isTTY ? 2_000 : 20_000,
  );
  const shares = Array.from({ length: jobs }, (_, job) => {
    const first = Math.floor((sequences * job) / jobs);
    const end = Math.floor((sequences * (job + 1)) / jobs);
    return runShare({ name, main, seed, first, sequences: end - first }, (count) => (done[job] = count));
  });
  const reports = await Promise.all(shares);
  clearInterval(ticker);
  const whole = reports.filter((report) => report !== undefined);
  const made = whole.reduce((sum, report) => sum + report.made, 0);
  const finished = done.reduce((sum, each) => sum + each, 0);
  const passed = whole.length === jobs;
  record({
    suite: 'hostile',
    passed,
    figures: { sequences: finished, calls: made },
    detail: `@verbs/${name}, seed ${seed}`,
  });
  if (whole.length < jobs) return 1;

  const returned = whole.reduce((sum, report) => sum + report.returned, 0);
  const calls = whole[0]?.publicCalls ?? 0;
  const never = (whole[0]?.neverMade ?? []).filter((name) => whole.every((report) => report.neverMade.includes(name)));
  const seconds = ((Date.now() - begin) / 1000).toFixed(0);
  console.log(
    `\n${sequences} sequences of @verbs/${name}, seed ${seed} in ${seconds} s: ${made.toLocaleString('en')} calls, of which ` +
      `${returned.toLocaleString('en')} returned; ${calls - never.length} of ${calls} public calls were made; ` +
      `no crash, nothing thrown but ${errors[name]}, TypeError and RangeError, nothing left over`,
  );
  const undescribed = whole[0]?.undescribed ?? [];
  if (undescribed.length > 0) console.error(`hostile: without arguments: ${undescribed.join(', ')}`);
  if (never.length > 0) console.error(`hostile: never called: ${never.join(', ')}`);
  return undescribed.length > 0 || (never.length > 0 && sequences >= 1000) ? 1 : 0;
}

await runCommand({ name: 'hostile', usage, read: readOptions, run: testHostile });
