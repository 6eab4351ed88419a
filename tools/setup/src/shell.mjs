import { spawnSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { constants as osConstants } from 'node:os';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { root } from './paths.mjs';
import { Problem } from './problem.mjs';

/**
 * @typedef {object} Options
 * @property {NodeJS.ProcessEnv} [env]
 * @property {string} [cwd]
 */

/**
 * The path of a program on PATH, or undefined.
 * @param {string} program
 * @param {NodeJS.ProcessEnv} [env]
 */
export function which(program, env = process.env) {
  const directories = (env['PATH'] ?? '').split(delimiter).filter((directory) => directory !== '');
  return directories.map((directory) => join(directory, program)).find(isExecutable);
}

/** @param {string} path */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/**
 * Runs a program whose output the user sees as it comes; its input is empty, so that nothing can wait for an answer.
 * The status is that of a shell: 128 + n for signal n.
 * @param {string} program
 * @param {string[]} args
 * @param {Options} [options]
 * @returns {number}
 */
export function exitStatus(program, args, options = {}) {
  // Everything goes to stderr: stdout belongs to the demo, which may be asked for JSON.
  const { status, signal, error } = spawnSync(program, args, { cwd: root, ...options, stdio: ['ignore', 2, 2] });
  if (error !== undefined) throw new Problem(`cannot run ${program}: ${error.message}`);
  return asStatus(status, signal);
}

/**
 * @param {number | null} status
 * @param {NodeJS.Signals | null} signal
 */
function asStatus(status, signal) {
  return status ?? 128 + (signal === null ? 0 : osConstants.signals[signal]);
}

/**
 * Like exitStatus, but a failure is a Problem with the command in its message.
 * @param {string} program
 * @param {string[]} args
 * @param {Options} [options]
 */
export function mustRun(program, args, options = {}) {
  const status = exitStatus(program, args, options);
  if (status !== 0)
    throw new Problem(`this failed with status ${status} (its output is above): ${quote(program, args)}`);
}

/**
 * The output of a program on stdout, or undefined if it cannot be run or fails.
 * @param {string} program
 * @param {string[]} args
 * @param {Options} [options]
 */
export function outputOf(program, args, options = {}) {
  const { status, stdout } = spawnSync(program, args, {
    cwd: root,
    ...options,
    stdio: ['ignore', 'pipe', 'ignore'],
    encoding: 'utf8',
    maxBuffer: Infinity,
  });
  return status === 0 ? stdout : undefined;
}

/**
 * @param {string} program
 * @param {string[]} args
 */
function quote(program, args) {
  return [program, ...args].map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word}'`)).join(' ');
}
