// Suites that passed with the same content before: their reports are still there, and speak for them.
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { root } from '../../../setup/src/paths.mjs';

/** @import { Suite } from './suites.mjs' */

/** Packages whose tests have parts that those of nearly all others use. */
const SHARED = ['@verbs/core#test', '@verbs/soft#test'];

/**
 * The keys of the packages whose tests may be left out, by folder. A key stands for all that a package's tests depend on:
 * its files, its dependencies and how they are built, the tests of these, from which it takes parts, the documents, the
 * lock file and the version of Node. `tools` and `trials` read files of all packages, and always run.
 * @param {string | undefined} plan of turbo: what `turbo run test --dry=json` prints
 * @returns {Map<string, string>}
 */
export function keysOf(plan) {
  if (plan === undefined) return new Map();
  /** @type {{ tasks: { taskId: string, task: string, directory: string, hash: string, dependencies: string[] }[] }} */
  const { tasks } = JSON.parse(plan);
  const tests = tasks.filter(({ task }) => task === 'test');
  const hashes = new Map(tests.map(({ taskId, hash }) => [taskId, hash]));
  return new Map(
    tests
      .filter(({ directory }) => /^(packages|examples)\b/.test(directory))
      .map(({ taskId, directory, dependencies }) => {
        const others = dependencies.map((dependency) => dependency.replace(/#.*/, '#test'));
        const all = [...new Set([taskId, ...SHARED, ...others])].map((id) => hashes.get(id));
        return [join(root, directory), [...all, process.version].join(' ')];
      }),
  );
}

/** @param {string} directory of a package */
const recordOf = (directory) => join(directory, 'test-results/passed.json');

/**
 * When the tests of a package passed with that key; undefined if they did not, or if a report of them is missing
 * or another one.
 * @param {string} directory
 * @param {string | undefined} key
 * @param {Suite[]} suites
 * @returns {string | undefined}
 */
export function passedAt(directory, key, suites) {
  const path = recordOf(directory);
  const own = suites.filter((suite) => suite.directory === directory);
  if (key === undefined || !existsSync(path)) return undefined;
  // A later report is that of a run of some tests by hand.
  const notedAt = statSync(path).mtimeMs;
  if (own.some(({ report }) => !existsSync(report) || statSync(report).mtimeMs > notedAt)) return undefined;
  /** @type {{ key?: string, at?: string }} */
  const passed = JSON.parse(readFileSync(path, 'utf8'));
  return passed.key === key ? passed.at : undefined;
}

/**
 * Notes that the tests of a package passed, each at its first attempt. Without a key they are to run the next time.
 * @param {string} directory
 * @param {string | undefined} key
 */
export function notePassed(directory, key) {
  const path = recordOf(directory);
  rmSync(path, { force: true });
  if (key === undefined) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify({ key, at: new Date().toISOString() }));
}

/** @param {{ directory: string, at: string }} passed */
export const described = ({ directory, at }) =>
  `${relative(root, directory)}: not run, since it passed at ${at} with the same content (npm test -- --again runs it)`;
