import { spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import process from 'node:process';
import { root } from '../../../setup/src/paths.mjs';
import { discoveredOf, programOf, regressionsOf, unpackedSeedsOf, workDirectoryOf } from './build.mjs';

/**
 * @typedef {object} Result
 * @property {string} name
 * @property {number} executions
 * @property {number} seconds
 * @property {{ output: string, reproducer: string | undefined, command: string } | undefined} crash
 */

// Longer inputs reach nothing more; an input that runs for half a minute hangs.
const limits = ['-max_len=1024', '-len_control=20', '-timeout=30'];
// npm run test:sanitize finds leaks; here the search would take most of the time.
const options = [...limits, '-detect_leaks=0', '-print_final_stats=1'];
// How much freed memory AddressSanitizer keeps from use. Its default, 256 MiB, is in no cache: a target that allocates
// much takes twice the time.
const sanitizerOptions = 'quarantine_size_mb=1';

/**
 * Runs one fuzz target in a process of its own.
 * @param {string} name
 * @param {{ seconds: number, executions?: number }} limit whichever comes first
 * @returns {Promise<Result>}
 */
export async function runTarget(name, { seconds, executions }) {
  const discovered = discoveredOf(name);
  const crashes = join(workDirectoryOf(name), 'crashes');
  mkdirSync(discovered, { recursive: true });
  mkdirSync(crashes, { recursive: true });
  const corpora = [discovered, unpackedSeedsOf(name), regressionsOf(name)].filter((folder) => existsSync(folder));
  const args = [...options, `-max_total_time=${seconds}`, `-artifact_prefix=${crashes}/${name}-`];
  if (executions !== undefined) args.push(`-runs=${executions}`);
  const begin = Date.now();
  const { status, output } = await run(programOf(name), [...args, ...corpora]);
  return {
    name,
    executions: Number(/stat::number_of_executed_units:\s*(\d+)/.exec(output)?.[1] ?? 0),
    seconds: (Date.now() - begin) / 1000,
    crash: status === 0 ? undefined : crashOf(name, output),
  };
}

/**
 * @param {string} name
 * @param {string} output
 * @returns {Result['crash']}
 */
function crashOf(name, output) {
  const reproducer = /Test unit written to (\S+)/.exec(output)?.[1];
  const command = [relative(root, programOf(name)), reproducer === undefined ? '' : relative(root, reproducer)];
  // The lines about new inputs say nothing about the crash.
  const lines = output.split('\n').filter((line) => !/^#\d+\s+(NEW|REDUCE|pulse|RELOAD)/.test(line));
  return { output: lines.slice(-80).join('\n'), reproducer, command: command.join(' ') };
}

/**
 * @param {string} program
 * @param {string[]} args
 * @returns {Promise<{ status: number | null, output: string }>}
 */
function run(program, args) {
  return new Promise((resolve, reject) => {
    const env = { ASAN_OPTIONS: sanitizerOptions, ...process.env };
    const child = spawn(program, args, { cwd: root, env, stdio: ['ignore', 'ignore', 'pipe'] });
    let output = '';
    child.stderr.setEncoding('utf8').on('data', (/** @type {string} */ text) => {
      // The statistics and the report of a crash stand at the end.
      output = (output + text).slice(-200_000);
    });
    child.once('error', reject);
    child.once('close', (status) => {
      resolve({ status, output });
    });
  });
}
