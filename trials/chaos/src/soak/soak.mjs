/** @import { Package } from '../worlds/devices.mjs' */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { buildGremlin } from '../harness/gremlin.mjs';
import { Scene } from '../harness/scene.mjs';
import { loopback } from '../worlds/loopback.mjs';
import { Pair } from './pair.mjs';
import { STALL_MS } from './stall.mjs';

/** Two processes each. @type {{ name: string, package: Package, mode: string }[]} */
const kinds = [
  { name: 'rc awaited', package: 'core', mode: 'await' },
  { name: 'rc polled', package: 'core', mode: 'poll' },
  { name: 'ud', package: 'ud', mode: 'await' },
  { name: 'comm channel', package: 'doca-comm', mode: 'await' },
];

/** Messages over a plain socket, which say how the machine was. @type {typeof kinds[number]} */
const control = { name: 'plain socket', package: 'plain', mode: 'await' };

const WARM_MS = 60_000;

/** Nothing happens but time, and each fiftieth frame is lost. @type {import('../disturbances/disturbance.mjs').Disturbance} */
const time = {
  kind: 'soak',
  about: 'nothing but time',
  links: ['loopback'],
  packages: [],
  options: () => ',drop=0.02,seed=7',
  act: () => Promise.resolve({ effects: [['ok'], ['ok']] }),
};

/**
 * Mixed traffic for a while. Returns the series of samples of each process, those of the control's processes,
 * the p99 of the control, and what was wrong.
 * @param {{ minutes: number, interval: number, seed: number }} options @param {NodeJS.ProcessEnv} env
 * @param {(line: string) => void} tell
 */
export async function soak({ minutes, interval, seed }, env, tell) {
  const directory = mkdtempSync(join(tmpdir(), 'soak-'));
  const stage = { directory, library: buildGremlin(env), env };
  /** @type {Pair[]} */
  const pairs = [];
  /** @type {Record<string, Record<string, number[]>>} */
  const processes = {};
  /** @type {Record<string, Record<string, number[]>>} */
  const controls = {};
  /** @type {number[]} */
  const machine = [];
  /** @type {string[]} */
  const problems = [];
  let [megabytes, stalls] = [0, 0];
  try {
    for (const { name, package: own, mode } of [...kinds, control]) {
      const scene = new Scene({ disturbance: time, package: own, world: loopback(), seed, stage });
      scene.modes = [mode, mode];
      const pair = new Pair(name, scene);
      pairs.push(pair);
      await pair.start();
    }
    const plain = pairs.find(({ name }) => name === control.name);
    if (plain === undefined) throw new Error('there is no control');
    // The allocators reach their size within a minute.
    await setTimeout(WARM_MS);
    for (const pair of pairs) await pair.sample({});
    const deadline = performance.now() + minutes * 60_000;
    let longest = 0;
    while (performance.now() < deadline && problems.length === 0) {
      await setTimeout(Math.min(interval, deadline - performance.now()));
      const before = longest;
      for (const pair of pairs) await pair.sample(pair === plain ? controls : processes);
      // Side 0 of the control measures, side 1 answers.
      longest = plain.longest / 1000;
      machine.push(plain.p99);
      // A connection does not outlive a machine that stands still for as long as the retries take.
      const stalled = Math.max(before, longest) > STALL_MS;
      for (const pair of pairs) {
        problems.push(...pair.wrong);
        if (pair.statuses.length === 0) continue;
        const what = `${pair.name}: ${pair.statuses.join(', ')}`;
        if (!stalled) problems.push(what);
        else {
          stalls++;
          tell(
            `${what}, while the machine stood still for ${Math.max(before, longest).toFixed(0)} ms: connecting anew`,
          );
          await pair.again();
        }
      }
      megabytes = pairs.reduce((sum, pair) => sum + pair.megabytes, 0);
      tell(`${((deadline - performance.now()) / 60_000).toFixed(1)} minutes left, ${megabytes.toFixed(0)} MB`);
    }
    await Promise.all(pairs.map((pair) => pair.stop()));
  } catch (error) {
    problems.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  } finally {
    await Promise.all(pairs.map(({ scene }) => scene.destroy()));
    rmSync(directory, { recursive: true, force: true });
  }
  return { processes, controls, machine, problems, stalls, megabytes: Math.round(megabytes) };
}
