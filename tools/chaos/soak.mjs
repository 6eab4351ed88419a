// `npm run soak`: mixed traffic for an hour; memory, descriptors and latencies must stay flat.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { runCommand } from '../check/src/command.mjs';
import { record } from '../lib/src/reliability/log.mjs';
import { setUp } from '../setup/src/set-up.mjs';
import { plot } from './src/soak/plot.mjs';
import { soak } from './src/soak/soak.mjs';
import { rising } from './src/soak/trend.mjs';

const usage = `Usage: npm run soak -- [--minutes N] [--seconds N]

Four pairs of processes transfer verified data over a link that loses 2 % of all frames: RC awaited and polled, UD, Comm
Channel. RSS, heap, descriptors and p99 of each process are sampled, and must not rise after the first fifth of the time.

  --minutes N   for how long; 60 if not given
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
  const { processes, problems, megabytes } = await soak({ minutes, interval, seed: 1 }, env, (line) => {
    console.error(`soak: ${line}`);
  });
  const bad = [...problems, ...rising(processes)];
  const directory = join(import.meta.dirname, 'build');
  mkdirSync(directory, { recursive: true });
  const file = join(directory, 'soak.html');
  writeFileSync(file, plot(processes, `Soak of ${minutes} minutes, ${megabytes} MB verified`));
  for (const line of bad) console.log(line);
  console.log(`${minutes} minutes, ${megabytes} MB verified: ${bad.length === 0 ? 'flat' : 'not flat'}; ${file}`);
  record({ suite: 'soak', passed: bad.length === 0, figures: { minutes, megabytes } });
  return bad.length === 0 ? 0 : 1;
}

await runCommand({ name: 'soak', usage, read: readOptions, run: runSoak });
process.exit();
