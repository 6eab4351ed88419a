// `npm run trial chaos`: verified transfers between real processes, while something happens to one of them.
import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { runCommand } from '../../tools/check/src/command.mjs';
import { record } from '../../tools/check/src/reliability/log.mjs';
import { setUp } from '../../tools/setup/src/set-up.mjs';
import { disturbances } from './src/disturbances/index.mjs';
import { cellsOf } from './src/cells.mjs';
import { figuresOf, report } from './src/report.mjs';

const usage = `Usage: npm run trial chaos -- [--seed N] [--minutes N] [--runs N] [--only KIND[/LINK[/PACKAGE]]] [--jobs N] [--json]

Two ends transfer data, of which each byte is compared; at a random moment something happens to one of them. Afterwards
nothing may hang beyond its bound, no byte may be wrong or missing, each end must have reported the right error or none,
a new connection must work, and no descriptor, thread, object or memory may be left over.

  --seed N      a seed of your own; a new one if not given
  --minutes N   for how long; 5 if not given
  --runs N      how many, instead
  --only CELL   some of them: a kind, or a kind and a link, or one cell
  --jobs N      how many at a time; half as many as there are processors if not given
  --json        the results as one JSON object
  --help        print this text

Kinds:
${disturbances.map(({ kind, about }) => `  ${kind.padEnd(10)} ${about}`).join('\n')}
Links: process (both ends in one), loopback (UDP), shm (shared memory), veth (two network namespaces).
Packages: core, rdmacm, mlx5, hbl, doca-comm; libibverbs, a program in C.`;

/** @param {string[]} args */
function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      seed: { type: 'string', default: randomBytes(4).readUInt32LE().toString() },
      minutes: { type: 'string', default: '5' },
      runs: { type: 'string' },
      only: { type: 'string' },
      jobs: { type: 'string', default: String(Math.max(1, availableParallelism() >> 1)) },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const number = (/** @type {string} */ name, /** @type {string} */ text, /** @type {RegExp} */ form) => {
    if (!form.test(text)) throw new TypeError(`--${name} ${text}: give a number`);
    return Number(text);
  };
  const cells = cellsOf(values.only);
  if (cells.length === 0) throw new TypeError(`--only ${String(values.only)}: there is no such cell`);
  return {
    cells,
    seed: number('seed', values.seed, /^\d+$/),
    milliseconds: number('minutes', values.minutes, /^\d+(\.\d+)?$/) * 60_000,
    runs: values.runs === undefined ? undefined : number('runs', values.runs, /^\d+$/),
    jobs: Math.max(1, number('jobs', values.jobs, /^\d+$/)),
    json: values.json,
    help: values.help,
  };
}

/** @param {ReturnType<typeof readOptions>} options */
async function testChaos(options) {
  const env = setUp({ forTests: true });
  // It loads the native files, which the set-up builds.
  const { series } = await import('./src/series.mjs');
  console.error(`chaos: seed ${options.seed}`);
  const results = await series(options, env, ({ cell, problems, seed }, count) => {
    if (problems.length > 0) {
      const name = `${cell.disturbance.kind}/${cell.link}/${cell.package}`;
      console.error(`chaos: ${name} failed:\n  ${problems.join('\n  ')}`);
      console.error(`  again: npm run trial chaos -- --seed ${seed} --only ${name} --runs 1`);
    } else if (count % 20 === 0) console.error(`chaos: ${count} runs`);
  });
  const { text, json, failed } = report(results);
  console.log(options.json ? JSON.stringify({ seed: options.seed, ...json }, undefined, 2) : text);
  record({ suite: 'chaos', passed: failed === 0, figures: figuresOf(results), detail: `seed ${options.seed}` });
  return failed === 0 ? 0 : 1;
}

await runCommand({ name: 'chaos', usage, read: readOptions, run: testChaos });
// Descriptors of victims that are gone do not keep it.
process.exit();
