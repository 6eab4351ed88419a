/** @import { Outcomes } from './summary.mjs' */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { dropInDirectory } from '@verbs/soft';
import { Problem } from '../../setup/src/problem.mjs';

/** Debian's modules belong to Debian's Python, whatever other one is on PATH. */
const python = '/usr/bin/python3';
const installedTests = '/usr/share/doc/rdma-core/tests';
const driver = join(import.meta.dirname, '../python/run.py');

/** One device, which the tests of the suite all use. */
const device = 'soft0';

/** Far more than the suite takes: it is over in seconds. */
const timeLimit = 300_000;

/** What is not run, and why. */
export const leftOut = [
  { modules: /^test_mlx5_/, reason: 'they need an mlx5 device' },
  { modules: /^test_efa/, reason: 'they need an efa device' },
  { modules: /^test_rdmacm$/, reason: "they need the kernel's connection manager" },
];

/**
 * Runs the suite and returns what came of each test.
 * @param {(text: string) => void} print takes what the suite prints, as it comes
 * @returns {Promise<Outcomes>}
 */
export async function runSuite(print) {
  for (const path of [python, join(installedTests, '__init__.py')]) {
    if (existsSync(path)) continue;
    throw new Problem(
      `${path} is missing: apt-get install python3-pyverbs (with its documentation, where the tests are)`,
    );
  }
  const directory = mkdtempSync(join(tmpdir(), 'verbs-pyverbs-'));
  try {
    const tests = join(directory, 'tests');
    const report = join(directory, 'report.json');
    const modules = copyTests(tests).filter((name) => leftOut.some((group) => group.modules.test(name)));
    const ended = await run([tests, report, device, ...modules], print);
    if (!existsSync(report)) throw new Problem(`the suite did not come to its end: ${ended}`);
    return /** @type {Outcomes} */ (JSON.parse(readFileSync(report, 'utf8')));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * Copies the suite, unpacked, and returns the names of its modules.
 * @param {string} directory
 */
function copyTests(directory) {
  mkdirSync(directory);
  return readdirSync(installedTests).map((file) => {
    const content = readFileSync(join(installedTests, file));
    const name = file.replace(/\.gz$/, '');
    writeFileSync(join(directory, name), name === file ? content : gunzipSync(content));
    return name.replace(/\.py$/, '');
  });
}

/**
 * @param {string[]} args
 * @param {(text: string) => void} print
 * @returns {Promise<string>} how Python ended
 */
async function run(args, print) {
  const child = spawn(python, ['-W', 'ignore::DeprecationWarning', '-u', driver, ...args], {
    env: { ...process.env, LD_LIBRARY_PATH: dropInDirectory(), VERBS_SOFT: device, PYTHONDONTWRITEBYTECODE: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const watchdog = setTimeout(() => child.kill('SIGKILL'), timeLimit);
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', print);
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (status, signal) => {
        resolve(signal === null ? `exit status ${status ?? 0}` : `killed by ${signal}`);
      });
    });
  } finally {
    clearTimeout(watchdog);
  }
}
