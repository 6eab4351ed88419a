import { totalOf, countOf } from './counts.mjs';
import { runTarget } from './run-target.mjs';
import { report } from './schedule.mjs';

/** @import { Result } from './run-target.mjs' */

/** Targets whose executions change the state of something; the others read a text or a packet. */
const stateful = new Set(['nic', 'cm', 'adversary', 'setups', 'steering', 'doorbell', 'ring']);

/** How long a target runs before the next choice. */
const SLICE_S = 120;

/** The executions that a target should have. @param {string} name */
export const goalOf = (name) => (stateful.has(name) ? 1e7 : 1e8);

/**
 * The target that is nearest to its goal, by the time that it needs at its rate so far; undefined if all have arrived.
 * @param {{ name: string, missing: number, rate: number }[]} targets a rate of 0 is not known yet
 */
export function nearest(targets) {
  const open = targets.filter(({ missing }) => missing > 0);
  const time = (/** @type {{ missing: number, rate: number }} */ { missing, rate }) => (rate > 0 ? missing / rate : 0);
  return open.sort((one, other) => time(one) - time(other))[0]?.name;
}

/**
 * One target after the other until all have reached their goals, or the time is over; one that crashed does not run again.
 * @param {{ minutes: number, jobs: number, targets: string[] }} options
 * @returns {Promise<Result[]>}
 */
export async function runToGoals({ minutes, jobs, targets }) {
  const end = Date.now() + minutes * 60_000;
  /** @type {Result[]} */
  const results = [];
  /** @type {Set<string>} running, or crashed */
  const out = new Set();
  const work = async () => {
    while (Date.now() < end) {
      const facts = targets
        .filter((name) => !out.has(name))
        .map((name) => {
          const { executions, seconds } = countOf(name);
          return { name, missing: goalOf(name) - totalOf(name), rate: seconds > 0 ? executions / seconds : 0 };
        });
      const name = nearest(facts);
      if (name === undefined) return;
      out.add(name);
      const left = Math.max(1, Math.round((end - Date.now()) / 1000));
      const executions = facts.find((fact) => fact.name === name)?.missing;
      const result = report(
        await runTarget(name, {
          seconds: Math.min(SLICE_S, left),
          ...(executions === undefined ? {} : { executions }),
        }),
      );
      results.push(result);
      if (result.crash === undefined) out.delete(name);
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  return results;
}
