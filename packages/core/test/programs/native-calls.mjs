// Calls the functions of an addon directly, below its package's TypeScript, with arguments that no caller should have: by
// chance, repeatable by a seed. See `--help`. For the tests of every package, by ../shared/native-calls.ts.
import { randomBytes } from 'node:crypto';
import { openSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import process from 'node:process';
import { setImmediate as turn } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { Random } from './hostile/random.mjs';
import { Mutator } from './native-calls/mutator.mjs';
import { Recorder } from './native-calls/recorder.mjs';

const usage = `Usage: node --expose-gc native-calls.mjs --addon FILE --tour FILE [--seed N] [--calls N] [--log FILE]

  --addon FILE     the .node file
  --tour FILE      a module whose default function uses the package as programs do; the calls are recorded, and repeated
                   with other arguments. It exports the names of functions that are not called as \`skipped\`.
  --seed N         a seed of your own; a new one if not given
  --calls N        how many; 20000 if not given
  --log FILE       every call, before it is made`;

const { values: options } = parseArgs({
  options: {
    addon: { type: 'string' },
    tour: { type: 'string' },
    seed: { type: 'string', default: String(randomBytes(4).readUInt32LE()) },
    calls: { type: 'string', default: '20000' },
    log: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (options.help || options.addon === undefined || options.tour === undefined) {
  console.log(usage);
  process.exit(options.help ? 0 : 2);
}

/** Calls between two tours: a call may close anything. */
const ROUND = 250;

const addon = createRequire(import.meta.url)(resolve(options.addon));
// Before the package is loaded, which may keep the functions.
const recorder = new Recorder(addon);
const { default: tour, skipped = [] } = await import(pathToFileURL(resolve(options.tour)).href);
const random = new Random(Number(options.seed));
const log = options.log === undefined ? undefined : openSync(options.log, 'w');
const report = {
  seed: Number(options.seed),
  calls: 0,
  returned: 0,
  thrown: 0,
  tours: 0,
  neverReturned: [],
  strange: [],
};
const returned = new Set();

process.on('uncaughtException', (error) => {
  // A callback of a hostile call may throw at any time.
  if (!(error instanceof Error)) report.strange.push(`outside of calls: ${String(error)}`);
});
process.on('unhandledRejection', () => undefined);

let depth = 0;
function callOnce(name) {
  const mutator = new Mutator(random, recorder, harm);
  const args = mutator.argumentsOf(name);
  if (log !== undefined) writeSync(log, `${report.calls} ${'  '.repeat(depth)}${name}(${mutator.label})\n`);
  report.calls++;
  try {
    const result = recorder.functions.get(name)(...args);
    if (result instanceof Promise) result.catch(() => undefined);
    recorder.keep(result);
    report.returned++;
    returned.add(name);
  } catch (error) {
    report.thrown++;
    if (!(error instanceof Error)) report.strange.push(`${name} threw ${String(error)}`);
  }
}

const names = [...recorder.functions.keys()].filter((name) => !skipped.includes(name));

/** Closers less often: after them most calls end at once. */
function pickName() {
  const name = random.pick(names);
  return recorder.closers.includes(name) && !random.oneIn(10) ? random.pick(names) : name;
}

/** What a getter does while a call reads its arguments: another call, which may close or detach what the first one has. */
function harm() {
  if (depth > 0) return;
  depth++;
  if (random.oneIn(3)) recorder.detachOne(random);
  else callOnce(random.oneIn(4) ? (random.pick(recorder.closers) ?? pickName()) : pickName());
  depth--;
}

async function run() {
  while (report.calls < Number(options.calls)) {
    recorder.start();
    const end = await tour();
    recorder.stop();
    report.tours++;
    for (let i = 0; i < ROUND; i++) {
      callOnce(pickName());
      if (random.oneIn(20)) await turn();
      if (random.oneIn(200)) globalThis.gc();
    }
    try {
      await end?.();
    } catch (error) {
      if (!(error instanceof Error)) report.strange.push(`the end of a tour threw ${String(error)}`);
    }
    if (recorder.recorded.size === 0) throw new Error('the tour made no call of the addon');
    recorder.forget();
  }
}

try {
  await run();
} catch (error) {
  console.error('the tour failed:', error);
  process.exit(1);
}
report.neverReturned = names.filter((name) => !returned.has(name));
writeSync(1, `${JSON.stringify(report)}\n`);
// Hostile calls may have left behind what keeps the loop alive.
process.exit(report.strange.length === 0 ? 0 : 1);
