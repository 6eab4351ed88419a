/** @import { Package } from '../worlds/devices.mjs' */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { buildGremlin } from '../harness/gremlin.mjs';
import { Scene } from '../harness/scene.mjs';
import { loopback } from '../worlds/loopback.mjs';

/** Two processes each. @type {{ name: string, package: Package, mode: string }[]} */
const pairs = [
  { name: 'rc awaited', package: 'core', mode: 'await' },
  { name: 'rc polled', package: 'core', mode: 'poll' },
  { name: 'ud', package: 'ud', mode: 'await' },
  { name: 'comm channel', package: 'doca-comm', mode: 'await' },
];

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
 * Mixed traffic for a while. Returns the series of samples of each process, and what was wrong.
 * @param {{ minutes: number, interval: number, seed: number }} options @param {NodeJS.ProcessEnv} env
 * @param {(line: string) => void} tell
 */
export async function soak({ minutes, interval, seed }, env, tell) {
  const directory = mkdtempSync(join(tmpdir(), 'soak-'));
  const stage = { directory, library: buildGremlin(env), env };
  /** @type {{ name: string, scene: Scene }[]} */
  const scenes = [];
  /** @type {Record<string, Record<string, number[]>>} */
  const processes = {};
  /** @type {string[]} */
  const problems = [];
  let bytes = 0;
  try {
    for (const { name, package: own, mode } of pairs) {
      const scene = new Scene({ disturbance: time, package: own, world: loopback(), seed, stage });
      scene.modes = [mode, mode];
      scenes.push({ name, scene });
      await scene.start([0, 1]);
      await scene.askBoth('open');
      await scene.connect();
    }
    const deadline = performance.now() + minutes * 60_000;
    while (performance.now() < deadline && problems.length === 0) {
      await setTimeout(Math.min(interval, deadline - performance.now()));
      bytes = 0;
      for (const { name, scene } of scenes) {
        for (const end of [0, 1]) {
          const key = `${name} ${end}`;
          const report = await scene.ask(end, 'report');
          const figures = await scene.victimOf(end).ask('sample');
          const series = (processes[key] ??= { rss: [], heap: [], descriptors: [], p99: [], megabytes: [] });
          const all = { ...figures, p99: report.latency?.p99 ?? 0, megabytes: report.bytes / 2 ** 20 };
          for (const [what, values] of Object.entries(series)) values.push(Number(all[what]));
          bytes += Number(report.bytes);
          for (const bad of [...report.wrong, ...report.statuses]) problems.push(`${key}: ${String(bad)}`);
        }
      }
      tell(`${((deadline - performance.now()) / 60_000).toFixed(1)} minutes left, ${(bytes / 2 ** 20).toFixed(0)} MB`);
    }
    for (const { scene } of scenes) await scene.askBoth('stop');
  } catch (error) {
    problems.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  } finally {
    await Promise.all(scenes.map(({ scene }) => scene.destroy()));
    rmSync(directory, { recursive: true, force: true });
  }
  return { processes, problems, megabytes: Math.round(bytes / 2 ** 20) };
}
