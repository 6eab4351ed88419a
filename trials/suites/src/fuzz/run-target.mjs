import { spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import process from 'node:process';
import { root } from '../../../../tools/setup/src/paths.mjs';
/** @import { Form } from './build.mjs' */
import { discoveredOf, programOf, regressionsOf, unpackedSeedsOf, workDirectoryOf } from './build.mjs';

/**
 * @typedef {object} Result
 * @property {string} name
 * @property {number} executions
 * @property {number} fast how many of them were in the form without sanitizers
 * @property {number} seconds
 * @property {{ output: string, reproducer: string | undefined, command: string } | undefined} crash
 */

// Longer inputs reach nothing more; an input that runs for half a minute hangs.
const limits = ['-len_control=20', '-timeout=30'];
const longest = 1024;
// Targets whose time goes with the length, and that reach the same with short inputs: their fast form makes only those,
// and up to twice as many of them. The form with the sanitizers searches among long ones too.
const short = 256;
const withShortInputs = new Set(['capture', 'configuration', 'peers', 'ring', 'setups']);
// npm run trial sanitize finds leaks; here the search would take most of the time.
const options = [...limits, '-detect_leaks=0', '-print_final_stats=1'];
// How much freed memory AddressSanitizer keeps from use. Its default, 256 MiB, is in no cache: a target that allocates
// much takes twice the time.
const sanitizerOptions = 'quarantine_size_mb=1';

// The fast form chooses the next input without the frequencies of all features, whose bookkeeping takes up to a fifth of
// its time.
const fastOptions = ['-entropic=0'];

// How much of the time the fast form has.
const fastShare = 7 / 8;

/**
 * Runs one fuzz target: first in the form without sanitizers, then in the one with them, which begins with all inputs
 * that the first one discovered.
 * @param {string} name
 * @param {{ seconds: number, executions?: number }} limit whichever comes first
 * @param {typeof runForm} run one process
 * @returns {Promise<Result>}
 */
export async function runTarget(name, { seconds, executions = Infinity }, run = runForm) {
  const fast = await run(name, 'fast', { seconds: Math.max(1, Math.round(seconds * fastShare)), executions });
  if (fast.crash !== undefined) return fast;
  const left = { seconds: seconds - fast.seconds, executions: executions - fast.executions };
  const checked = await run(name, 'checked', {
    seconds: Math.max(1, Math.round(left.seconds)),
    executions: Math.max(0, left.executions),
  });
  return {
    ...checked,
    executions: fast.executions + checked.executions,
    fast: fast.executions,
    seconds: fast.seconds + checked.seconds,
  };
}

/**
 * A process that begins with every known input; it replays them also where there is no time or execution left.
 * @param {string} name
 * @param {Form} form
 * @param {{ seconds: number, executions: number }} limit
 * @returns {Promise<Result>}
 */
async function runForm(name, form, { seconds, executions }) {
  const discovered = discoveredOf(name);
  const crashes = join(workDirectoryOf(name), 'crashes');
  mkdirSync(discovered, { recursive: true });
  mkdirSync(crashes, { recursive: true });
  const corpora = [discovered, unpackedSeedsOf(name), regressionsOf(name)].filter((folder) => existsSync(folder));
  const length = form === 'fast' && withShortInputs.has(name) ? short : longest;
  const args = [...options, `-max_len=${length}`, `-max_total_time=${seconds}`, `-artifact_prefix=${crashes}/${name}-`];
  if (form === 'fast') args.push(...fastOptions);
  if (Number.isFinite(executions)) args.push(`-runs=${executions}`);
  const begin = Date.now();
  const { status, output } = await start(programOf(name, form), [...args, ...corpora]);
  const count = Number(/stat::number_of_executed_units:\s*(\d+)/.exec(output)?.[1] ?? 0);
  return {
    name,
    executions: count,
    fast: form === 'fast' ? count : 0,
    seconds: (Date.now() - begin) / 1000,
    crash: status === 0 ? undefined : crashOf(name, form, output),
  };
}

/**
 * @param {string} name
 * @param {Form} form
 * @param {string} output
 * @returns {Result['crash']}
 */
function crashOf(name, form, output) {
  const reproducer = /Test unit written to (\S+)/.exec(output)?.[1];
  const command = [relative(root, programOf(name, form)), reproducer === undefined ? '' : relative(root, reproducer)];
  // The lines about new inputs say nothing about the crash.
  const lines = output.split('\n').filter((line) => !/^#\d+\s+(NEW|REDUCE|pulse|RELOAD)/.test(line));
  return { output: lines.slice(-80).join('\n'), reproducer, command: command.join(' ') };
}

/**
 * @param {string} program
 * @param {string[]} args
 * @returns {Promise<{ status: number | null, output: string }>}
 */
function start(program, args) {
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
