import { spawn } from 'node:child_process';

/**
 * @typedef {object} Measured
 * @property {number} status of the command
 * @property {number} processor seconds of the processor that the command and all that it started took
 * @property {number} seconds from start to end
 */

// Node tells what a process itself took, not what the processes that it started took; the shell's `time` adds them up.
const script = 'TIMEFORMAT="%U %S %R"; exec 4>&2; { time "$@" 2>&4 3>&- 4>&-; } 2>&3';

/**
 * Runs a command whose output the user sees as it comes, and measures it. Its input is empty.
 * @param {string} command @param {string[]} args
 * @param {{ env: NodeJS.ProcessEnv, cwd?: string }} options
 * @returns {Promise<Measured>}
 */
export function measured(command, args, options) {
  return new Promise((done, fail) => {
    const child = spawn('bash', ['-c', script, 'bash', command, ...args], {
      ...options,
      stdio: ['ignore', 2, 2, 'pipe'],
    });
    let report = '';
    child.stdio[3]?.on('data', (/** @type {Buffer} */ data) => (report += data.toString()));
    child.on('error', fail);
    child.on('close', (status) => {
      const [user = 0, system = 0, seconds = 0] = report.trim().split(' ').map(Number);
      done({ status: status ?? 1, processor: user + system, seconds });
    });
  });
}
