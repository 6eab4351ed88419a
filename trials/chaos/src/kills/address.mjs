// Kills one after the other of ten processes at one address, each connected with all others: a program in C++, which is
// also a test of the software NIC (packages/soft/native/test/sharing).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { buildSoft, softBuild } from '../../../suites/src/soft-programs.mjs';
import { table } from '../../../../tools/check/src/reliability/table.mjs';

/**
 * How the ten reach each other.
 * @typedef {object} Way
 * @property {string} name
 * @property {string} device
 * @property {string[]} args
 */

/** @type {readonly Way[]} */
const ways = [
  { name: 'shared memory', device: 'soft0,addr=127.0.0.93', args: [] },
  { name: 'UDP', device: 'soft0,addr=127.0.0.94,link=udp', args: [] },
  // Five of them in PID namespaces, in each of which one is process 1.
  { name: 'containers', device: 'soft0,addr=127.0.0.95', args: ['--containers', '1'] },
  // Five on each, in two network namespaces. The program chooses the addresses.
  { name: 'two hosts', device: 'soft0', args: ['--hosts', '2'] },
];

/** The program's status where it cannot make namespaces. */
const SKIPPED = 77;

/**
 * @typedef {object} AddressResult
 * @property {string} way
 * @property {'passed' | 'skipped' | 'failed'} outcome
 * @property {Record<string, number>} counters of all processes
 * @property {string} said by the program, if it did not pass
 */

/**
 * @param {{ kills: number, seed: number }} options
 * @param {NodeJS.ProcessEnv} env
 * @param {(result: AddressResult) => void} tell
 */
export async function addressSeries({ kills, seed }, env, tell) {
  buildSoft(env, ['sharing_processes']);
  const program = join(softBuild, 'sharing_processes');
  /** @type {AddressResult[]} */
  const results = [];
  for (const { name, device, args } of ways) {
    const child = spawn(program, ['--kills', String(kills), '--seed', String(seed), ...args], {
      env: { ...env, VERBS_SOFT: device },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [stdout, stderr, [status, signal]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      /** @type {Promise<[number | null, NodeJS.Signals | null]>} */ (once(child, 'close')),
    ]);
    const outcome = status === 0 ? 'passed' : status === SKIPPED ? 'skipped' : 'failed';
    const ended = signal === null ? '' : `ended by ${signal}\n`;
    const said = outcome === 'passed' ? '' : `${stdout}${stderr}${ended}`.trim();
    const result = /** @type {AddressResult} */ ({ way: name, outcome, counters: countersOf(stdout), said });
    results.push(result);
    tell(result);
  }
  return results;
}

/** Lines of a name and a number. @param {string} text @returns {Record<string, number>} */
function countersOf(text) {
  return Object.fromEntries([...text.matchAll(/^([a-z_]+) (\d+)$/gm)].map(([, name, value]) => [name, Number(value)]));
}

/** @param {number} kills @param {AddressResult[]} results */
export function addressReport(kills, results) {
  const columns = {
    verified_messages: 'messages verified',
    rcvd_pkts: 'packets',
    link_shm_forwarded: 'handed over',
    link_shm_unowned: 'for the dead',
    ack_timeout: 'timeouts',
    rcvd_rnr_err: 'not ready',
    retransmitted_pkts: 'sent again',
    retry_exceeded_err: 'given up',
  };
  const lines = results.map(({ way, outcome, counters }) => [
    way,
    outcome === 'skipped' ? 0 : kills,
    outcome,
    ...Object.keys(columns).map((name) => counters[name] ?? ''),
  ]);
  return {
    kills: kills * results.filter(({ outcome }) => outcome !== 'skipped').length,
    text: table(['ten at one address, by', 'kills', '', ...Object.values(columns)], lines),
    passed: results.every(({ outcome }) => outcome !== 'failed'),
  };
}
