// `npm run trial kills`: one end of a connection is killed at any step of it, and the other one learns it in time; one of
// ten processes at one address is killed, and the others lose nothing.
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { runCommand } from '../../tools/check/src/command.mjs';
import { record } from '../../tools/check/src/reliability/log.mjs';
import { setUp } from '../../tools/setup/src/set-up.mjs';
import { addressReport, addressSeries } from './src/kills/address.mjs';

const usage = `Usage: npm run trial kills -- [--seed N] [--kills N] [--only PART] [--jobs N] [--slack MS] [--json]

A C program on librdmacm connects to this one, or is connected to, goes to a step of the connection and is killed there
with SIGKILL. This program must have its event within the documented time, at every step, and hold nothing in the end.

Then ten processes at one address, each connected with all others, over shared memory, over UDP, in containers
that share the network, and on two hosts: one is killed again and again, and another one comes. The connections of the others must lose nothing.

  --seed N    a seed of your own; a new one if not given
  --kills N   how many of each; 1000 if not given
  --only PART connections, or address
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
      only: { type: 'string' },
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
  const { only, json, help } = values;
  if (only !== undefined && only !== 'connections' && only !== 'address')
    throw new TypeError(`--only ${only}: give connections, or address`);
  return { seed, kills, only, jobs, slack, json, help };
}

/** @param {ReturnType<typeof readOptions>} options @param {NodeJS.ProcessEnv} env */
async function killConnections(options, env) {
  setFlagsFromString('--expose-gc');
  globalThis.gc = /** @type {typeof globalThis.gc} */ (runInNewContext('gc'));
  // They load the native files, which the set-up builds.
  const { series } = await import('./src/kills/series.mjs');
  const { report } = await import('./src/kills/report.mjs');
  const { results, left } = await series(options, env, ({ step, problems }, count) => {
    if (problems.length > 0) console.error(`kills: ${step.role} ${step.name} failed:\n  ${problems.join('\n  ')}`);
    else if (count % 100 === 0) console.error(`kills: ${count}`);
  });
  return report(results, left);
}

/** @param {ReturnType<typeof readOptions>} options @param {NodeJS.ProcessEnv} env */
async function killAtAddress(options, env) {
  const results = await addressSeries(options, env, ({ way, outcome, said }) => {
    console.error(`kills: ten at one address, by ${way}: ${outcome}${said === '' ? '' : `\n${said}`}`);
  });
  return { ...addressReport(options.kills, results), json: results };
}

/** @param {ReturnType<typeof readOptions>} options */
async function testKills(options) {
  const env = setUp({ forTests: true });
  const { seed, only, json } = options;
  console.error(`kills: seed ${seed}`);
  const connections = only === 'address' ? undefined : await killConnections(options, env);
  const address = only === 'connections' ? undefined : await killAtAddress(options, env);
  const parts = [connections, address].filter((part) => part !== undefined);
  const passed = parts.every((part) => part.passed);
  if (json) console.log(JSON.stringify({ seed, ...connections?.json, address: address?.json }, undefined, 2));
  else console.log(parts.map(({ text }) => text).join('\n\n'));
  const kills = (connections?.json.kills ?? 0) + (address?.kills ?? 0);
  record({ suite: 'kills', passed, figures: { kills }, detail: `seed ${seed}` });
  return passed ? 0 : 1;
}

await runCommand({ name: 'kills', usage, read: readOptions, run: testKills });
