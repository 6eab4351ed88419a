import { relative } from 'node:path';
import { root } from '../../../../tools/setup/src/paths.mjs';
import { record } from '../../../../tools/check/src/reliability/log.mjs';
import { addCount, fastFigure, totalOf } from './counts.mjs';
import { runTarget } from './run-target.mjs';

/** Executions after which a target leaves its time to the others. */
const enough = 1_000_000;

/** @import { Result } from './run-target.mjs' */

/**
 * Runs all targets, several at once, and prints a line for each. A crash of one target does not stop the others.
 * @param {{ minutes: number, jobs: number, targets: string[] }} options
 * @returns {Promise<Result[]>} one for each target
 */
export async function runAll({ minutes, jobs, targets }) {
  const end = Date.now() + minutes * 60_000;
  const share = Math.max(1, Math.floor((minutes * 60 * jobs) / targets.length));
  const last = targets.at(-1);
  // Every worker that finds the queue empty runs the last one.
  const queue = targets.slice(0, -1);
  /** @type {Map<string, Result>} */
  const results = new Map();

  const work = async () => {
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
      const left = secondsUntil(end);
      results.set(name, report(await runTarget(name, { seconds: Math.min(share, left), executions: enough })));
    }
    if (last === undefined) return;
    const result = await runTarget(last, { seconds: secondsUntil(end) });
    results.set(last, merge(results.get(last), report(result)));
  };
  await Promise.all(Array.from({ length: jobs }, work));
  return [...results.values()];
}

/** @param {number} end */
function secondsUntil(end) {
  return Math.max(1, Math.round((end - Date.now()) / 1000));
}

/**
 * Two processes of one target count as one.
 * @param {Result | undefined} first
 * @param {Result} second
 * @returns {Result}
 */
function merge(first, second) {
  if (first === undefined) return second;
  const executions = first.executions + second.executions;
  const fast = first.fast + second.fast;
  const seconds = first.seconds + second.seconds;
  return { ...second, executions, fast, seconds, crash: first.crash ?? second.crash };
}

/**
 * Counts a run, and says what it did.
 * @param {Result} result
 * @returns {Result}
 */
export function report(result) {
  const { name, executions, fast, seconds, crash } = result;
  addCount(name, result);
  const figures = { executions, [name]: executions, [fastFigure(name)]: fast };
  record({ suite: 'fuzz', passed: crash === undefined, figures, detail: name });
  const speed = Math.round(executions / Math.max(seconds, 1)).toLocaleString('en');
  const head = `${name}: ${executions.toLocaleString('en')} executions in ${Math.round(seconds)} s, ${speed} a second`;
  const all = `${totalOf(name).toLocaleString('en')} in all recorded runs`;
  console.error(`${head}; ${all}${crash === undefined ? '' : `\n${describe(crash)}`}`);
  return result;
}

/** @param {NonNullable<Result['crash']>} crash */
function describe({ output, reproducer, command }) {
  const where = reproducer === undefined ? 'no input was kept' : `the input is ${relative(root, reproducer)}`;
  return `${output}\nit failed; ${where}; to see it again:\n\n    ${command}\n`;
}
