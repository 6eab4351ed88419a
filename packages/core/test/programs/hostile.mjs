// Random sequences of calls with hostile arguments, repeatable by a seed. See `--help`.
import { randomBytes } from 'node:crypto';
import { openSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import process from 'node:process';
import { setImmediate as turn } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { Random, seedOf } from './hostile/random.mjs';
import { argumentsOf, prepareSurface, Sequence } from './hostile/sequence.mjs';
import { publicCalls, surfaceOf } from './hostile/surface.mjs';

const usage = `Usage: node --expose-gc hostile.mjs [--core FILE] [--seed N] [--first I] [--sequences N] [--only I] [--trace]

  --core FILE      the built @verbs/core to test (dist/index.js); this package's own if not given
  --seed N         a seed of your own; a new one if not given
  --first I        the number of the first sequence, 0 if not given
  --sequences N    how many; 300 if not given
  --only I         one sequence, which runs as it does among the others
  --trace          every call on stderr, before it is made
  --status FILE    the number of the running sequence, for an observer`;

const { values: options } = parseArgs({
  options: {
    core: { type: 'string', default: new URL('../../dist/index.js', import.meta.url).pathname },
    seed: { type: 'string', default: String(randomBytes(4).readUInt32LE()) },
    first: { type: 'string', default: '0' },
    sequences: { type: 'string', default: '300' },
    only: { type: 'string' },
    trace: { type: 'boolean', default: false },
    status: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (options.help) {
  console.log(usage);
  process.exit(0);
}

// Two devices, so that objects of two can meet.
process.env['VERBS_SOFT'] ??= 'soft0;soft1';
const core = await import(pathToFileURL(resolve(options.core)).href);
const surface = { ...surfaceOf(core), core };
const calls = publicCalls(surface);
const ready = prepareSurface(surface, calls);
const seed = Number(options.seed);
const first = Number(options.only ?? options.first);
const count = options.only === undefined ? Number(options.sequences) : 1;
const status = options.status === undefined ? undefined : openSync(options.status, 'w');

/** Sequences between two looks at what is left over. */
const BATCH = 20;
const counts = new Map();
const failures = [];
let protocol = [];

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
  const trace = options.trace ? (line) => writeSync(2, `${line}\n`) : undefined;
  const sequence = new Sequence(core, new Random(seedOf(seed, index)), ready, counts, trace);
  protocol = sequence.protocol;
  try {
    await sequence.run();
  } catch (error) {
    addFailure(error, index);
  }
}

/** What is left of closed and forgotten objects, after their collection: undefined if nothing is. */
async function leftOver(before) {
  let difference;
  for (let turns = 0; turns < 30; turns++) {
    globalThis.gc();
    await turn();
    const now = core.objectCounts();
    difference = Object.keys(now).filter((kind) => now[kind] !== before[kind]);
    if (difference.length === 0) return undefined;
  }
  const now = core.objectCounts();
  return difference.map((kind) => `${now[kind] - before[kind]} ${kind}`).join(', ');
}

// No call promises an exception outside of it.
let current = first;
process.on('uncaughtException', (error) => {
  addFailure(error, current);
  process.exit(1);
});

// These keep the addresses, which every sequence would otherwise search for.
const kept = [core.openDevice('soft0'), core.openDevice('soft1')];
const before = core.objectCounts();
for (let done = 0; done < count && failures.length === 0; done += BATCH) {
  const end = Math.min(count, done + BATCH);
  for (let each = done; each < end && failures.length === 0; each++) {
    current = first + each;
    await runOne(current);
  }
  const left = failures.length === 0 ? await leftOver(before) : undefined;
  if (left !== undefined) {
    const range = count === 1 ? `sequence ${current}` : `sequences ${first + done} to ${first + end - 1}`;
    addFailure(new Error(`${left} left over by ${range}: run each of them with --only`), current);
  }
}
// A failed sequence may have left anything behind, also what would keep this process alive.
if (failures.length > 0) process.exit(1);
for (const ctx of kept) ctx.close();

const made = [...counts.values()].reduce((sum, each) => sum + each.made, 0);
const returned = [...counts.values()].reduce((sum, each) => sum + each.returned, 0);
const undescribed = calls.filter((name) => argumentsOf(name) === undefined && !isAccessor(name));
const report = {
  seed,
  first,
  sequences: count,
  failures,
  made,
  returned,
  publicCalls: calls.length,
  neverMade: calls.filter((name) => !counts.has(name)),
  neverReturned: calls.filter((name) => counts.get(name)?.returned === 0),
  undescribed,
};
console.log(JSON.stringify(report));
process.exitCode = failures.length === 0 ? 0 : 1;

function isAccessor(name) {
  return ready.descriptors.get(name)?.get !== undefined;
}
