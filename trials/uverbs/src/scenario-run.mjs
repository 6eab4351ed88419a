/** @import { Driver } from './sysfs.mjs' */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kernelLibrary, twinOf } from './build.mjs';
import { hblEnvironment, hblLibrary } from './hbl-library.mjs';
import { deviceName, writeSysfs } from './sysfs.mjs';

/** @typedef {'ioctl' | 'write'} Interface how the program talks to the kernel: the ioctl, or the older write */

/**
 * @typedef {object} Result
 * @property {string} scenario
 * @property {Driver} driver
 * @property {Interface} interface
 * @property {'same' | 'different' | 'skipped'} verdict
 * @property {number} calls how many lines the journals have that were compared
 * @property {string} [reason] of what was skipped, or what differs
 */

const scenarios = join(import.meta.dirname, '../scenarios');

/** @param {Driver} driver */
const mainOf = (driver) => join(scenarios, driver === 'hbl' ? 'hbl/main.mjs' : 'main.mjs');
/** Milliseconds, for a program that hangs. */
const timeout = 150_000;

/** Scenarios of one driver alone: why. */
const onlyMlx5 = new Map([
  ['receive-side-scaling', 'rxe has no receive work queues'],
  ['counted-flow', 'rxe has no RAW_PACKET and no counters'],
  ['device-memory', 'rxe has no memory of its own'],
  ['work-requests', 'completion queues of librxe have no timestamps'],
  ['moderation', 'completion queues of librxe have no timestamps'],
  ['invalidation-without-its-key', 'librxe reports no IBV_WC_WITH_INV'],
  ['reliable-domain', 'librxe has no XRC'],
  ...['reformats', 'modify-header', 'flows', 'devx'].map((name) => /** @type {const} */ ([name, 'calls of libmlx5'])),
]);
/** By the ioctl alone. */
const onlyIoctl = ['reformats', 'modify-header', 'flows', 'devx', 'device-memory', 'counted-flow'];

/**
 * @param {string} scenario
 * @param {Driver} driver
 * @param {Interface} by
 * @returns {string | undefined} why it cannot run
 */
function reasonAgainst(scenario, driver, by) {
  if (driver === 'hbl') return hblLibrary() === undefined ? 'HBL_LIBRARY names no libhbl' : undefined;
  if (driver !== 'mlx5' && onlyMlx5.has(scenario)) return onlyMlx5.get(scenario);
  if (by === 'write' && onlyIoctl.includes(scenario)) return 'these calls go through the ioctl only';
  return undefined;
}

/**
 * Runs one scenario twice, as the twin in C and through the packages, and compares what reached the kernel.
 * @param {string} scenario
 * @param {Driver} driver
 * @param {Interface} by
 * @returns {Result}
 */
export function runScenario(scenario, driver, by) {
  const which = { scenario, driver, interface: by };
  const reason = reasonAgainst(scenario, driver, by);
  if (reason !== undefined) return { ...which, verdict: 'skipped', calls: 0, reason };
  const folder = mkdtempSync(join(tmpdir(), 'verbs-uverbs-'));
  try {
    writeSysfs(folder, driver);
    const expected = journal(join(folder, 'c'), [twinOf(driver), scenario]);
    const given = journal(join(folder, 'js'), [process.execPath, mainOf(driver), scenario, deviceName(driver)]);
    const difference = firstDifference(expected, given);
    if (difference === undefined) return { ...which, verdict: 'same', calls: expected.length };
    return { ...which, verdict: 'different', calls: expected.length, reason: difference };
  } finally {
    rmSync(folder, { recursive: true });
  }

  /**
   * @param {string} path
   * @param {string[]} command
   * @returns {string[]} the lines of the journal, or of what went wrong
   */
  function journal(path, [program = '', ...args]) {
    const env = {
      ...process.env,
      ...(driver === 'hbl' ? hblEnvironment(folder) : {}),
      LD_PRELOAD: kernelLibrary,
      SYSFS_PATH: folder,
      UVERBS_DRIVER: driver,
      UVERBS_INTERFACE: by,
      UVERBS_JOURNAL: path,
    };
    const { status, signal, stderr } = spawnSync(program, args, { env, encoding: 'utf8', timeout });
    const lines = read(path);
    if (status !== 0) lines.push(`it ended with ${signal ?? status ?? 'nothing'}: ${stderr.trim()}`);
    return lines;
  }
}

/** @param {string} path */
function read(path) {
  try {
    return readFileSync(path, 'utf8').trimEnd().split('\n');
  } catch {
    return ['nothing reached the kernel'];
  }
}

/**
 * @param {string[]} expected
 * @param {string[]} given
 * @returns {string | undefined}
 */
function firstDifference(expected, given) {
  const failed =
    expected.find((line) => line.startsWith('it ended with')) ?? (expected.length < 2 ? 'no call' : undefined);
  if (failed !== undefined) return `the twin: ${failed}`;
  const length = Math.max(expected.length, given.length);
  for (let index = 0; index < length; index++) {
    if (expected[index] === given[index]) continue;
    return `line ${index + 1}\n  C:  ${expected[index] ?? 'nothing'}\n  we: ${given[index] ?? 'nothing'}`;
  }
  return undefined;
}
