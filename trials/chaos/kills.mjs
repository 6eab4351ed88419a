// `npm run trial kills`: one end of a connection is killed at any step of it, and the other one learns it in time.
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { runCommand } from '../../tools/check/src/command.mjs';
import { record } from '../../tools/check/src/reliability/log.mjs';
import { setUp } from '../../tools/setup/src/set-up.mjs';

const usage = `Usage: npm run trial kills -- [--seed N] [--kills N] [--jobs N] [--slack MS] [--json]

A C program on librdmacm connects to this one, or is connected to, goes to a step of the connection and is killed there
with SIGKILL. This program must have its event within the documented time, at every step, and hold nothing in the end.

  --seed N    a seed of your own; a new one if not given
  --kills N   how many; 1000 if not given
  --jobs N    how many at a time; 24 if not given
  --slack MS  what a loaded machine may take beyond the documented time; 5000 if not given
  --json      the results as one JSON object
  --help      print this text`;

/** @param {string[]} args */
function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      seed: { type: 'string', default: randomBytes(4).readUInt32LE().toString() },
      kills: { type: 'string', default: '1000' },
      jobs: { type: 'string', default: '24' },
      slack: { type: 'string', default: '5000' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const number = (/** @type {'seed' | 'kills' | 'jobs' | 'slack'} */ name) => {
    if (!/^\d{1,10}$/.test(values[name])) throw new TypeError(`--${name} ${values[name]}: give a number`);
    return Number(values[name]);
  };
  const [seed, kills, jobs, slack] = [number('seed'), number('kills'), Math.max(1, number('jobs')), number('slack')];
  return { seed, kills, jobs, slack, json: values.json, help: values.help };
}

/** @param {ReturnType<typeof readOptions>} options */
async function testKills(options) {
  const env = setUp({ forTests: true });
  setFlagsFromString('--expose-gc');
  globalThis.gc = /** @type {typeof globalThis.gc} */ (runInNewContext('gc'));
  // They load the native files, which the set-up builds.
  const { series } = await import('./src/kills/series.mjs');
  const { report } = await import('./src/kills/report.mjs');
  console.error(`kills: seed ${options.seed}`);
  const { results, left } = await series(options, env, ({ step, problems }, count) => {
    if (problems.length > 0) console.error(`kills: ${step.role} ${step.name} failed:\n  ${problems.join('\n  ')}`);
    else if (count % 100 === 0) console.error(`kills: ${count}`);
  });
  const { text, json, passed } = report(results, left);
  console.log(options.json ? JSON.stringify({ seed: options.seed, ...json }, undefined, 2) : text);
  record({ suite: 'kills', passed, figures: { kills: results.length }, detail: `seed ${options.seed}` });
  return passed ? 0 : 1;
}

await runCommand({ name: 'kills', usage, read: readOptions, run: testKills });
