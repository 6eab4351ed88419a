import { addresses } from './namespace.mjs';
import { softConfiguration, startOnSoft } from './host.mjs';

/** @import { Guest } from './guest.mjs' */
/** @import { Family } from './host.mjs' */

/**
 * How one check ended.
 * @typedef {object} Result
 * @property {string} part
 * @property {string} name
 * @property {Family} family
 * @property {'ours to rxe' | 'rxe to ours'} direction which end is active
 * @property {string | null} failure
 */

let nextPort = 20_000;

/** A TCP port that nothing in the namespace uses. */
export function freePort() {
  return nextPort++;
}

/** Far longer than any run. */
const limit = 1_200_000;

/**
 * Runs the cases whose name contains the text, with either end active, and returns their results.
 * @param {Guest} guest
 * @param {string} program
 * @param {{ part: string, family: Family, only: string, configuration?: string, timeout?: number, expected: number }} options
 *   configuration: of our NIC, if not its address only; timeout: of acknowledgements, as a queue pair has it; expected: how many results there must be
 * @returns {Promise<Result[]>}
 */
export async function runCases(
  guest,
  program,
  { part, family, only, configuration = softConfiguration(family), timeout, expected },
) {
  const meeting = `${addresses.host[4]}:${freePort()}`;
  const selection = only === '' ? [] : ['--only', only];
  if (timeout !== undefined) selection.push('--timeout', String(timeout));
  const ours = startOnSoft(
    [program, '--listen', meeting, '--device', 'soft0', '--address', addresses.host[family], ...selection],
    configuration,
  );
  const theirs = guest.start([
    ...[program, '--connect', meeting, '--device', 'rxe0', '--address', addresses.guest[family]],
    ...selection,
  ]);
  const timer = setTimeout(() => {
    ours.kill();
    theirs.kill();
  }, limit);
  const ended = await ours.ended;
  // An end that fails without a word leaves the other one alone.
  setTimeout(theirs.kill, 5_000).unref();
  const other = await theirs.ended;
  clearTimeout(timer);
  const results = ended.stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      /** @type {{ name: string, active: boolean, failure: string | null }} */
      const { name, active, failure } = JSON.parse(line);
      return { part, name, family, direction: direction(active), failure };
    });
  if (results.length !== expected) {
    const ends = `ours (${how(ended)}): ${ended.stderr}; rxe (${how(other)}): ${other.stderr}`;
    const reason = `${results.length} of ${expected} results; ${ends}`;
    results.push({ part, name: 'the two ends', family, direction: direction(true), failure: reason });
  }
  return results;
}

/** @param {import('./guest.mjs').Ended} ended */
function how({ status, signal }) {
  return signal ?? `status ${status ?? ''}`;
}

/**
 * @param {boolean} oursIsActive
 * @returns {Result['direction']}
 */
export function direction(oursIsActive) {
  return oursIsActive ? 'ours to rxe' : 'rxe to ours';
}
