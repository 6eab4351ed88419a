// What the long suites did, one JSON object a line: every run of the trials chaos, kills, faults, hostile, sanitize,
// fuzz and soak adds one. The log stays on the machine; `npm run trial reliability` adds it up, and takes the runs of another checkout by
// `--import`.
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import process from 'node:process';

const root = resolve(import.meta.dirname, '../../../..');

/** The log; ignored by git. */
export const logPath = join(root, '.reliability/log.jsonl');

/**
 * A run of a suite.
 * @typedef {object} Entry
 * @property {string} id tells two entries apart
 * @property {string} suite chaos, kills, faults, hostile, sanitize, fuzz, soak
 * @property {string} at when it ended, ISO 8601
 * @property {string} commit of the tree, with a `+` if that had changes
 * @property {boolean} passed
 * @property {Record<string, number>} figures what was done, each by its unit: runs, cells, executions, sequences, minutes
 * @property {string} [command] what was typed
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
  const entry = { id, at, commit: commit(), command: command(), ...run };
  try {
    append(path, entry);
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

/**
 * Adds the runs of other logs that this one does not have.
 * @param {string[]} others @param {string} [path]
 * @returns {number} how many
 */
export function importLogs(others, path = logPath) {
  const known = new Set(readLog(path).map(({ id }) => id));
  let count = 0;
  for (const other of others) {
    if (!existsSync(other)) throw new Error(`${other}: there is no such log`);
    for (const entry of readLog(other)) {
      if (known.has(entry.id)) continue;
      known.add(entry.id);
      count++;
      append(path, entry);
    }
  }
  return count;
}

/** On a line of its own, also after one that was cut off. @param {string} path @param {Entry} entry */
function append(path, entry) {
  mkdirSync(dirname(path), { recursive: true });
  const whole = !existsSync(path) || /(^|\n)$/.test(readFileSync(path, 'utf8'));
  appendFileSync(path, `${whole ? '' : '\n'}${JSON.stringify(entry)}\n`);
}

function command() {
  const name = process.env['npm_lifecycle_event'];
  const args = process.argv.slice(2);
  const program = name === undefined ? `node ${relative(root, process.argv[1] ?? '')}` : `npm run ${name}`;
  return [program, ...(name !== undefined && args.length > 0 ? ['--'] : []), ...args].join(' ');
}

function commit() {
  return `${git(['rev-parse', '--short', 'HEAD'])}${git(['status', '--porcelain']) === '' ? '' : '+'}`;
}

/** What git says; nothing where there is no git. @param {string[]} args */
function git(args) {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : '';
}
