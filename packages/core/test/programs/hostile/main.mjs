// The program around the sequences, for every package: its options, what is left over, and the report.
import { randomBytes } from 'node:crypto';
import { openSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import process from 'node:process';
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { Random, seedOf } from './random.mjs';
import { publicCalls, surfaceOf } from './surface.mjs';

const usage = `Usage: node --expose-gc hostile.mjs [--main FILE] [--seed N] [--first I] [--sequences N] [--only I] [--trace]

  --main FILE      the main file of the built package to test (dist/index.js); this package's own if not given
  --seed N         a seed of your own; a new one if not given
  --first I        the number of the first sequence, 0 if not given
  --sequences N    how many; 300 if not given
  --only I         one sequence, which runs as it does among the others
  --trace          every call on stderr, before it is made
  --status FILE    the number of the running sequence, for an observer`;

/** Sequences between two looks at what is left over, and how long that may take to go away. */
const BATCH = Number(process.env.B ?? 20);
const GONE_MS = 5000;

function readOptions(file) {
  const { values } = parseArgs({
    options: {
      main: { type: 'string', default: fileURLToPath(file) },
      seed: { type: 'string', default: String(randomBytes(4).readUInt32LE()) },
      first: { type: 'string', default: '0' },
      sequences: { type: 'string', default: '300' },
      only: { type: 'string' },
      trace: { type: 'boolean', default: false },
      status: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    process.exit(0);
  }
  return values;
}

/**
 * Runs the program, and ends the process with its status if a sequence has failed.
 *
 * @param file the package's own main file, an URL
 * @param open gives the subject from what the package exports and the path of its main file: a promise of
 *   - `api`: the exports, and the classes of objects that are not exported;
 *   - `isInternal(key, class)`: whether a member is not for programs;
 *   - `busy`: calls that a program makes often, a regular expression;
 *   - `argumentsOf(name)`: gives what gives good arguments for a public call, undefined if they are not written down yet;
 *   - `errors`: the classes of the package's own errors;
 *   - `missing`: public calls that reflection does not reach;
 *   - `sequence(random, subject, tools, index)`: makes one;
 *   - `counts()`: what is there now of everything that must not be left over, numbers by names;
 *   - `close()`: closes what it has opened for all sequences.
 */
export async function runHostile(file, open) {
  const options = readOptions(file);
  const main = resolve(options.main);
  const subject = await open(await import(pathToFileURL(main).href), main);
  const surface = surfaceOf(subject.api, subject.isInternal);
  const calls = publicCalls(surface);
  const names = [...calls.keys()];
  subject.surface = { ...surface, calls, names, busy: names.filter((name) => subject.busy.test(name)) };
  const seed = Number(options.seed);
  const first = Number(options.only ?? options.first);
  const count = options.only === undefined ? Number(options.sequences) : 1;
  const status = options.status === undefined ? undefined : openSync(options.status, 'w');
  const trace = options.trace ? (line) => writeSync(2, `${line}\n`) : undefined;
  const counts = new Map();
  const failures = [];
  let protocol = [];
  let current = first;

  function addFailure(error, index) {
    console.error(`\nsequence ${index} of seed ${seed} failed: ${error.message}`);
    if (error.cause !== undefined) console.error('with', error.cause);
    else if (error.name !== 'Failure') console.error(error);
    for (const line of protocol) console.error(`  ${line}`);
    console.error(`repeat it: --seed ${seed} --only ${index}`);
    failures.push(index);
  }

  async function runOne(index) {
    if (status !== undefined) writeSync(status, `${index}\n`.padStart(12), 0);
    const sequence = subject.sequence(new Random(seedOf(seed, index)), subject, { counts, trace }, index);
    protocol = sequence.protocol;
    try {
      await sequence.run();
    } catch (error) {
      addFailure(error, index);
    }
  }

  // No call promises an exception outside of it.
  process.on('uncaughtException', (error) => {
    addFailure(error, current);
    process.exit(1);
  });

  const before = { ...(await settledCounts(subject)) };
  for (let done = 0; done < count && failures.length === 0; done += BATCH) {
    const end = Math.min(count, done + BATCH);
    for (let each = done; each < end && failures.length === 0; each++) {
      current = first + each;
      await runOne(current);
    }
    const left = failures.length === 0 ? await leftOver(subject, before) : undefined;
    if (left !== undefined) {
      const range = count === 1 ? `sequence ${current}` : `sequences ${first + done} to ${first + end - 1}`;
      addFailure(new Error(`${left} left over by ${range}: run each of them with --only`), current);
    }
  }
  // A failed sequence may have left anything behind, also what would keep this process alive.
  if (failures.length > 0) process.exit(1);
  subject.close();

  const sum = (field) => [...counts.values()].reduce((total, each) => total + each[field], 0);
  const undescribed = names.filter((name) => subject.argumentsOf(name) === undefined && !calls.get(name).reads);
  const report = {
    seed,
    first,
    sequences: count,
    failures,
    made: sum('made'),
    returned: sum('returned'),
    publicCalls: names.length,
    neverMade: names.filter((name) => !counts.has(name)),
    neverReturned: names.filter((name) => counts.get(name)?.returned === 0),
    undescribed: [...undescribed, ...(subject.missing ?? [])],
  };
  console.log(JSON.stringify(report));
}

/** The counts once what the beginning has left is collected. */
async function settledCounts({ counts }) {
  let before = counts();
  for (let same = 0; same < 10; same++) {
    globalThis.gc();
    await delay(1);
    const now = counts();
    if (JSON.stringify(now) !== JSON.stringify(before)) same = 0;
    before = now;
  }
  return before;
}

/**
 * What is left of closed and forgotten objects, after their collection: undefined if nothing is. What was there before and
 * has gone since is not expected again.
 */
async function leftOver({ counts }, before) {
  const more = () => {
    const now = counts();
    for (const kind of Object.keys(before)) before[kind] = Math.min(before[kind], now[kind] ?? 0);
    const kinds = Object.keys(now).filter((kind) => now[kind] > (before[kind] ?? 0));
    return kinds.map((kind) => `${now[kind] - (before[kind] ?? 0)} ${kind}`);
  };
  const limit = Date.now() + GONE_MS;
  for (let turns = 0; turns < 30 || Date.now() < limit; turns++) {
    globalThis.gc();
    await turn();
    if (turns > 10) await delay(10);
    if (more().length === 0) return undefined;
  }
  return more().join(', ');
}
