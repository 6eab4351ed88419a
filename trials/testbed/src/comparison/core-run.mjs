import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../../tools/setup/src/paths.mjs';
import { compileCore } from './core-compile.mjs';
import { kernelPlaces } from './core-files.mjs';

/** @import { Guest } from '../guest.mjs' */
/** @import { KernelResult } from './report.mjs' */

const program = join(import.meta.dirname, '../../guest/core/run.mjs');
/** Milliseconds of one test file. */
const limit = 900_000;
/** The guest has two processors. */
const atOnce = 2;

/**
 * A line of the program in the guest.
 * @typedef {object} Line
 * @property {string} name empty: of the file as a whole
 * @property {'start' | 'pass' | 'fail' | 'skip'} state
 * @property {string} [message]
 */

/**
 * Runs test files of @verbs/core over the kernel's rxe, each in a process of its own.
 * @param {Guest} guest
 * @param {{ only: string, env: NodeJS.ProcessEnv, each: (result: KernelResult) => void }} options
 */
export async function runCore(guest, { only, env, each }) {
  const compiled = compileCore();
  try {
    // The guest reads the host's files without a cache: what every process reads is copied into its memory.
    const [node, sources] = ['/tmp/node', '/tmp/compiled'];
    await guest.must(['cp', process.execPath, node]);
    await guest.must(['cp', '-r', compiled, sources]);
    const all = { ...env, VERBS_TEST_DEVICE: 'rxe0', VERBS_KERNEL_SOURCES: root, VERBS_KERNEL_COMPILED: sources };
    const waiting = kernelPlaces.filter((place) => place.includes(only));
    const work = async () => {
      for (let place = waiting.shift(); place !== undefined; place = waiting.shift()) {
        for (const result of await runFile(guest, node, place, all)) each(result);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
  } finally {
    rmSync(compiled, { recursive: true });
  }
}

/**
 * Runs a file; after a crash the rest of it in another process.
 * @param {Guest} guest
 * @param {string} node
 * @param {string} place
 * @param {NodeJS.ProcessEnv} env
 */
async function runFile(guest, node, place, env) {
  /** @type {KernelResult[]} */
  const results = [];
  /** @type {string[]} */
  const done = [];
  for (;;) {
    const command = [node, '--expose-gc', program, `packages/core/test/${place}.test.ts`, JSON.stringify(done)];
    const { status, signal, stdout, stderr } = await guest.run(command, { env, limit });
    const before = done.length;
    /** @type {string | undefined} */
    let running;
    for (const { name, state, message = '' } of linesOf(stdout)) {
      if (state === 'start') running = name;
      else {
        results.push(resultOf(place, name, state, message));
        done.push(name);
        running = undefined;
      }
    }
    if (status === 0) return results;
    const why = `ended with ${signal ?? status ?? ''}: ${stderr.slice(-300)}`;
    results.push(resultOf(place, running ?? '', 'fail', why));
    if (running !== undefined) done.push(running);
    // Nothing of the rest would run.
    if (done.length === before) return results;
  }
}

/**
 * @param {string} text
 * @returns {Line[]}
 */
function linesOf(text) {
  const mark = '@test ';
  return text
    .split('\n')
    .filter((line) => line.startsWith(mark) && line.endsWith('}'))
    .map((line) => /** @type {Line} */ (JSON.parse(line.slice(mark.length))));
}

/**
 * @param {string} place
 * @param {string} name
 * @param {Exclude<Line['state'], 'start'>} state
 * @param {string} message
 * @returns {KernelResult}
 */
function resultOf(place, name, state, message) {
  const result = state === 'pass' ? 'passed' : state === 'fail' ? 'failed' : 'skipped';
  return { part: 'core', name: `${place}: ${name === '' ? 'the file' : name}`, result, message: message.slice(0, 400) };
}
