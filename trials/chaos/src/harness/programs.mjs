/** @import { ChildProcess, StdioOptions } from 'node:child_process' */
/** @import { Package } from '../worlds/devices.mjs' */
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { dropInDirectory } from '@verbs/soft';
import { buildOnce } from './compile.mjs';

/** What a victim is asked. @typedef {{ id: number, end: number | undefined, command: string, argument: unknown }} Command */

/**
 * @typedef {object} Configuration
 * @property {number} seed
 * @property {{ package: Package, device: string | undefined, address: string | undefined, me: number, mode: string | undefined, worker: boolean }[]} ends
 */

/**
 * The program of a victim, and how commands reach it.
 * @typedef {object} Program
 * @property {(configuration: Configuration) => string[]} words of its command line
 * @property {() => NodeJS.ProcessEnv} env
 * @property {StdioOptions} stdio
 * @property {(child: ChildProcess, tell: (answer: any) => void) => void} listen
 * @property {(child: ChildProcess, command: Command) => void} send
 * @property {(child: ChildProcess) => void} end lets it end by itself
 */

/**
 * The young generation grows and shrinks by 30 MB with the traffic, which would hide what is lost, or look like it. With a
 * small one, more collections come in the middle of things, too.
 */
const flags = ['--expose-gc', '--max-semi-space-size=1'];

/** @type {Program} */
const inNode = {
  words: (configuration) => [
    ...[process.execPath, ...flags, join(import.meta.dirname, '../../victims/victim.mjs')],
    JSON.stringify(configuration),
  ],
  env: () => ({}),
  stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  listen: (child, tell) => child.on('message', tell),
  send: (child, command) =>
    child.send(command, () => {
      // An error means that it has ended, which is told elsewhere.
    }),
  end: (child) => {
    child.disconnect();
  },
};

const inC = join(import.meta.dirname, '../../libibverbs');

/** The program in C, made at its first use. @param {NodeJS.ProcessEnv} env */
const verbsProgram = (env) => buildOnce('libibverbs-victim', inC, { options: ['-libverbs', '-lpthread'], env });

/** A program in C: lines of words go in, in the order of the argument's properties, and lines of JSON come out. @type {Program} */
const inLibibverbs = {
  words: ({ seed, ends }) => [
    ...[verbsProgram(process.env), String(seed)],
    ...ends.flatMap(({ device, me, mode }) => [String(device), String(me), String(mode)]),
  ],
  env: () => ({ LD_LIBRARY_PATH: dropInDirectory() }),
  stdio: ['pipe', 'pipe', 'pipe'],
  listen(child, tell) {
    // What cannot be written is for one that has ended.
    child.stdin?.on('error', () => undefined);
    if (child.stdout === null) return;
    createInterface(child.stdout).on('line', (line) => {
      tell(JSON.parse(line));
    });
  },
  send: (child, { id, end, command, argument }) =>
    child.stdin?.write(`${[id, end ?? '-', command, ...wordsOf(argument)].join(' ')}\n`),
  end: (child) => {
    child.stdin?.end();
  },
};

/** The values of an argument, of its parts as well; those that are undefined are left out. @param {unknown} argument @returns {string[]} */
function wordsOf(argument) {
  if (typeof argument === 'object' && argument !== null) return Object.values(argument).flatMap(wordsOf);
  return typeof argument === 'string' || typeof argument === 'number' ? [String(argument)] : [];
}

/** The program of a package's ends. @param {Package} name */
export const programOf = (name) => (name === 'libibverbs' ? inLibibverbs : inNode);
