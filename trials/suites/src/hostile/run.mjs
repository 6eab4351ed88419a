import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { root } from '../../../../tools/setup/src/paths.mjs';
import { outputOf } from '../../../../tools/setup/src/shell.mjs';

const programOf = (/** @type {string} */ name) => join(root, 'packages', name, 'test/programs/hostile.mjs');
const suppressions = join(root, 'packages/core/test/programs/hostile/lsan.supp');

/** A sequence takes milliseconds; the promises that one leaves have twenty seconds to settle. */
const HANG_MS = 120_000;
const TICK_MS = 2_000;

/**
 * @typedef {object} Report what the program prints at its end
 * @property {number} made
 * @property {number} returned
 * @property {number} publicCalls
 * @property {string[]} neverMade
 * @property {string[]} undescribed
 */

/**
 * @typedef {object} Share
 * @property {'core' | 'doca-comm'} name of the package under test
 * @property {string} main its main file
 * @property {string} seed
 * @property {number} first
 * @property {number} sequences
 */

/** @returns {NodeJS.ProcessEnv} */
function sanitizerEnvironment() {
  const library = outputOf('gcc', ['-print-file-name=libasan.so'])?.trim() ?? 'libasan.so';
  return {
    ...process.env,
    LD_PRELOAD: library,
    // Node's own memory functions are mixed on purpose in places; an absurd size gives null as without the sanitizer.
    ASAN_OPTIONS: 'detect_leaks=1:allocator_may_return_null=1:abort_on_error=0:detect_stack_use_after_return=0',
    LSAN_OPTIONS: `suppressions=${suppressions}:print_suppressions=0`,
    UBSAN_OPTIONS: 'print_stacktrace=1:halt_on_error=1',
  };
}

/** More random bits in the addresses than the sanitizers of GCC 12 can have: they need a run without. */
function addressesAreTooRandom() {
  try {
    return Number(readFileSync('/proc/sys/vm/mmap_rnd_bits', 'utf8')) > 28;
  } catch {
    return false;
  }
}

/**
 * @param {string} program
 * @param {string[]} args
 * @param {(child: import('node:child_process').ChildProcess) => void} watch
 * @returns {Promise<{ code: number | null, signal: NodeJS.Signals | null, stdout: string, stderr: string }>}
 */
function run(program, args, watch) {
  const node = [process.execPath, '--expose-gc', program, ...args];
  const [command = '', ...rest] = addressesAreTooRandom() ? ['setarch', '-R', ...node] : node;
  const child = spawn(command, rest, { env: sanitizerEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] });
  watch(child);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (/** @type {string} */ text) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (/** @type {string} */ text) => (stderr += text));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      resolve({ code, signal, stdout, stderr });
    });
  });
}

/**
 * Runs a share of the sequences in a process of its own. Prints failures on stderr, with the command that repeats them.
 * @param {Share} share
 * @param {(sequence: number) => void} progress
 * @returns {Promise<Report | undefined>} undefined if something went wrong
 */
export async function runShare({ name, main, seed, first, sequences }, progress) {
  const folder = mkdtempSync(join(tmpdir(), 'verbs-hostile-'));
  const status = join(folder, 'status');
  closeSync(openSync(status, 'w'));
  const current = () => Number(readFileSync(status, 'utf8').trim() || first);
  try {
    let last = first;
    let since = Date.now();
    const watched = { hung: false };
    const program = programOf(name);
    const common = ['--main', main, '--seed', seed];
    const args = [...common, '--first', String(first), '--sequences', String(sequences), '--status', status];
    /** @type {NodeJS.Timeout | undefined} */
    let timer;
    const { code, signal, stdout, stderr } = await run(program, args, (child) => {
      timer = setInterval(() => {
        const now = current();
        progress(now - first);
        if (now !== last) since = Date.now();
        last = now;
        watched.hung = Date.now() - since > HANG_MS;
        if (watched.hung) child.kill('SIGKILL');
      }, TICK_MS);
    });
    clearInterval(timer);
    if (code === 0) return /** @type {Report} */ (JSON.parse(stdout));
    const end = watched.hung ? `hung for ${HANG_MS / 1000} s` : `ended with ${signal ?? `status ${code}`}`;
    console.error(`\nhostile: a process ${end} in sequence ${current()} of seed ${seed}\n${stderr.slice(-12_000)}`);
    // A sequence that failed with an exception has printed its calls; one that crashed the process has not.
    if (!stderr.includes('repeat it:')) await trace(program, common, current());
    return undefined;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * @param {string} program
 * @param {string[]} common
 * @param {number} sequence
 */
async function trace(program, common, sequence) {
  console.error(`hostile: sequence ${sequence} again, alone, call by call:`);
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const { code, signal, stderr } = await run(program, [...common, '--only', String(sequence), '--trace'], (child) => {
    timer = setTimeout(() => child.kill('SIGKILL'), HANG_MS);
  });
  clearTimeout(timer);
  console.error(stderr.slice(-12_000));
  console.error(code === 0 ? 'alone it did not fail' : `it ended with ${signal ?? `status ${code}`}`);
}
