// `npm run trial soak`: mixed traffic for an hour; memory, descriptors and latencies must stay flat.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { runCommand } from '../../tools/check/src/command.mjs';
import { record } from '../../tools/check/src/reliability/log.mjs';
import { table } from '../../tools/check/src/reliability/table.mjs';
import { setUp } from '../../tools/setup/src/set-up.mjs';
import { plot } from './src/soak/plot.mjs';
import { judgements, rising } from './src/soak/trend.mjs';

const usage = `Usage: npm run trial soak -- [--minutes N] [--seconds N]

Four pairs of processes transfer verified data over a link that loses 2 % of all frames: RC awaited and polled, UD, Comm
Channel. RSS, heaps, descriptors, p50 and p99 of each process are sampled, and must not rise after the first fifth of the
time. A fifth pair uses a plain socket: where its times rise, the machine has become busier, and the others' may as well.

  --minutes N   for how long, after a minute that does not count; 60 if not given
  --seconds N   between samples; 60 if not given, less for a short run
  --help        print this text`;

/** @param {string[]} args */
function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      minutes: { type: 'string', default: '60' },
      seconds: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const minutes = Number(values.minutes);
  // A line needs some samples.
  const seconds = Number(values.seconds ?? Math.min(60, minutes * 4));
  if (!(minutes > 0)) throw new TypeError(`--minutes ${values.minutes}: give a number above 0`);
  if (!(seconds > 0)) throw new TypeError(`--seconds ${String(values.seconds)}: give a number above 0`);
  return { minutes, interval: seconds * 1000, help: values.help };
}

/** @param {ReturnType<typeof readOptions>} options */
async function runSoak({ minutes, interval }) {
  const env = setUp({ forTests: true });
  // It loads the native files, which the set-up builds.
  const { soak } = await import('./src/soak/soak.mjs');
  const { processes, controls, machine, problems, stalls, megabytes } = await soak(
    { minutes, interval, seed: 1 },
    env,
    (line) => {
      console.error(`soak: ${line}`);
    },
  );
  const bad = [...problems, ...rising(processes, machine)];
  const directory = join(import.meta.dirname, 'build');
  mkdirSync(directory, { recursive: true });
  const file = join(directory, 'soak.html');
  writeFileSync(join(directory, 'soak.json'), `${JSON.stringify({ ...processes, ...controls }, undefined, 1)}\n`);
  writeFileSync(file, plot({ ...processes, ...controls }, `Soak of ${minutes} minutes, ${megabytes} MB verified`));
  const lines = [...judgements(processes, machine), ...judgements(controls)].map(
    ({ name, what, unit, mean, rise, allowed }) => [name, what, unit, ...[mean, rise, allowed].map(Math.round)],
  );
  console.log(table(['process', 'what', 'unit', 'mean', 'rise', 'allowed'], lines));
  for (const line of bad) console.log(line);
  console.log(
    `${minutes} minutes, ${megabytes} MB verified, ${stalls} stalls of the machine: ${bad.length === 0 ? 'flat' : 'not flat'}; ${file}`,
  );
  record({ suite: 'soak', passed: bad.length === 0, figures: { minutes, megabytes, stalls } });
  return bad.length === 0 ? 0 : 1;
}

await runCommand({ name: 'soak', usage, read: readOptions, run: runSoak });
process.exit();
