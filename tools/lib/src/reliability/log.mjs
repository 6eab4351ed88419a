// What the long suites did, one JSON object a line: every run of test:chaos, test:faults, test:hostile, fuzz and soak adds
// one. The log stays on the machine; `npm run reliability -- --record` adds its sums to the committed summary.
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import process from 'node:process';

const root = resolve(import.meta.dirname, '../../../..');

/** The log; ignored by git. */
export const logPath = join(root, '.reliability/log.jsonl');

/** The committed sums. */
export const summaryPath = join(root, 'docs/reliability.json');

/**
 * A run of a suite.
 * @typedef {object} Entry
 * @property {string} id tells two entries apart
 * @property {string} suite chaos, faults, hostile, fuzz, soak
 * @property {string} at when it ended, ISO 8601
 * @property {string} commit of the tree, with a `+` if that had changes
 * @property {boolean} passed
 * @property {Record<string, number>} figures what was done, each by its unit: runs, cells, executions, sequences, minutes
 * @property {string} [detail] the seed, or the target
 */

/**
 * Adds a run. It never fails: a suite is not worse for a log that cannot be written.
 * @param {Pick<Entry, 'suite' | 'passed' | 'figures' | 'detail'>} run
 * @param {string} [path]
 */
export function record(run, path = logPath) {
  const at = new Date().toISOString();
  const id = `${Date.now().toString(36)}-${process.pid.toString(36)}-${process.hrtime.bigint().toString(36)}`;
  /** @type {Entry} */
  const entry = { id, at, commit: commit(), ...run };
  try {
    mkdirSync(dirname(path), { recursive: true });
    appendFileSync(path, `${JSON.stringify(entry)}\n`);
  } catch (error) {
    console.error(`reliability: ${String(error)}`);
  }
}

/**
 * The runs of a log; a line that was cut off by a crash is left out.
 * @param {string} [path]
 * @returns {Entry[]}
 */
export function readLog(path = logPath) {
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return line === '' ? [] : [/** @type {Entry} */ (JSON.parse(line))];
      } catch {
        return [];
      }
    });
}

function commit() {
  return `${git(['rev-parse', '--short', 'HEAD'])}${git(['status', '--porcelain']) === '' ? '' : '+'}`;
}

/** What git says; nothing where there is no git. @param {string[]} args */
function git(args) {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : '';
}
