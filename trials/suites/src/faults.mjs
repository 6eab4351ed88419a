import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { Problem } from '../../../tools/setup/src/problem.mjs';
import { softBuild } from './soft-programs.mjs';

/**
 * Runs the matrix. Its progress goes to stderr; its results to stdout, or into `text` if they are to be JSON.
 * @param {{ seed: string, cells: string, only?: string, list: boolean, json: boolean }} options
 */
export function runMatrix({ seed, cells, only, list, json }) {
  const args = ['--seed', seed, '--cells', cells];
  if (only !== undefined) args.push('--only', only);
  if (list || (only !== undefined && !json)) args.push('--list');
  if (json) args.push('--json');
  const { status, text } = run('fault_matrix', args, json);
  return { status, text };
}

/**
 * Runs the scenarios of real processes.
 * @param {{ json: boolean }} options
 */
export function runProcesses({ json }) {
  const { status, text } = run('fault_processes', [], json);
  const results = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [scenario = '', ...outcome] = line.split(': ');
      return { scenario, outcome: outcome.join(': '), failed: outcome[0] === 'FAILED' };
    });
  return { status, results };
}

/**
 * @param {string} program
 * @param {string[]} args
 * @param {boolean} capture
 */
function run(program, args, capture) {
  // The programs configure their own devices, whatever the caller's environment.
  const env = { ...process.env };
  delete env['VERBS_SOFT'];
  const { status, signal, stdout, error } = spawnSync(join(softBuild, program), args, {
    env,
    stdio: ['ignore', capture ? 'pipe' : 'inherit', 'inherit'],
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  if (error !== undefined) throw new Problem(`cannot run ${program}: ${error.message}`);
  if (status === null) throw new Problem(`${program} was ended by ${signal ?? 'a signal'}`);
  return { status, text: capture ? stdout : '' };
}
