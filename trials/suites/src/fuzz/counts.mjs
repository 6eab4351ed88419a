import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readLog } from '../../../../tools/check/src/reliability/log.mjs';
import { add } from '../../../../tools/check/src/reliability/sums.mjs';
import { workDirectoryOf } from './build.mjs';

/** @typedef {{ executions: number, seconds: number }} Count */

/** @param {string} target */
const fileOf = (target) => join(workDirectoryOf(target), 'executions.json');

/**
 * @param {string} target
 * @returns {Record<string, Count>} of all targets of its package
 */
function read(target) {
  try {
    return JSON.parse(readFileSync(fileOf(target), 'utf8'));
  } catch {
    return {};
  }
}

/**
 * What all runs of a target in this checkout have executed. The count lies beside the inputs that they discovered, in the
 * package's build folder, and goes with it.
 * @param {string} target
 * @returns {Count}
 */
export function countOf(target) {
  return read(target)[target] ?? { executions: 0, seconds: 0 };
}

/**
 * The executions of all runs in this machine's log.
 * @param {string} target
 */
export function totalOf(target) {
  return add({}, readLog())['fuzz']?.figures[target] ?? 0;
}

/**
 * The figure's name in the record.
 * @param {string} target
 */
export const fastFigure = (target) => `${target} without sanitizers`;

/**
 * How many of them were in the form without sanitizers.
 * @param {string} target
 */
export function fastOf(target) {
  return add({}, readLog())['fuzz']?.figures[fastFigure(target)] ?? 0;
}

/**
 * @param {string} target
 * @param {Count} run
 */
export function addCount(target, { executions, seconds }) {
  const before = countOf(target);
  const sum = { executions: before.executions + executions, seconds: Math.round(before.seconds + seconds) };
  mkdirSync(workDirectoryOf(target), { recursive: true });
  const file = fileOf(target);
  writeFileSync(`${file}.new`, `${JSON.stringify({ ...read(target), [target]: sum }, null, 2)}\n`);
  renameSync(`${file}.new`, file);
}
