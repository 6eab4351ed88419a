import { execFile } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { STEP_MS } from './bounds.mjs';

const program = join(import.meta.dirname, '../../victims/claimant.mjs');

/**
 * A process that tries to open the device of `VERBS_SOFT`, so many times. Returns the codes that it saw, each once.
 * @param {string[]} wrap words in front of the command
 * @param {NodeJS.ProcessEnv} env
 * @param {number} times
 * @returns {Promise<string>}
 */
export function claim(wrap, env, times) {
  const [command, ...args] = [...wrap, process.execPath, program, String(times)];
  return new Promise((resolve) => {
    execFile(command, args, { env, timeout: STEP_MS, killSignal: 'SIGKILL' }, (error, stdout, stderr) => {
      resolve(error === null ? stdout.trim() : `${error.message} ${stderr.trim()}`);
    });
  });
}
