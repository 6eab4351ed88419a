/** @import { Cell, Result } from './harness/run.mjs' */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildGremlin } from './harness/gremlin.mjs';
import { run } from './harness/run.mjs';
import { Random, seedOf } from './random.mjs';
import { skipped } from './worlds/available.mjs';

/**
 * Runs until the time is over, or so many runs. The cells come in a random order, each as often as the others.
 * @param {{ cells: Cell[], seed: number, milliseconds: number, runs?: number | undefined, jobs: number }} options
 * @param {NodeJS.ProcessEnv} env
 * @param {(result: Result, count: number) => void} tell
 * @returns {Promise<Result[]>}
 */
export async function series({ cells, seed, milliseconds, runs = Infinity, jobs }, env, tell) {
  const directory = mkdtempSync(join(tmpdir(), 'chaos-'));
  const stage = { directory, library: buildGremlin(env), env: clean(env) };
  /** @type {Result[]} */
  const results = [];
  for (const cell of cells) {
    const reason = skipped(cell);
    if (reason !== undefined) results.push({ cell, seed, outcome: '', problems: [], bytes: 0, skipped: reason });
  }
  const able = cells.filter((cell) => skipped(cell) === undefined);
  const order = new Random(seed);
  const deadline = performance.now() + milliseconds;
  /** @type {Cell[]} */
  let deck = [];
  let begun = 0;
  const over = () => begun >= runs || (runs === Infinity && performance.now() > deadline);
  const work = async () => {
    while (!over() && able.length > 0) {
      if (deck.length === 0) deck = [...able];
      const [cell] = deck.splice(order.below(deck.length), 1);
      if (cell === undefined) return;
      const result = await run(cell, seedOf(seed, begun++), stage);
      results.push(result);
      tell(result, results.length);
    }
  };
  try {
    await Promise.all(Array.from({ length: jobs }, work));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  return results;
}

/** The victims configure their own devices. @param {NodeJS.ProcessEnv} env */
function clean(env) {
  const own = { ...env };
  for (const name of ['VERBS_SOFT', 'LD_PRELOAD', 'NODE_OPTIONS', 'NODE_CHANNEL_FD']) Reflect.deleteProperty(own, name);
  return own;
}
