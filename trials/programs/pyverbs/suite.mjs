/** @import { Outcomes } from './summary.mjs' */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { softModel as mlx5 } from '@verbs/mlx5';
import { softModel as rdmacm } from '@verbs/rdmacm';
import { machineFor } from '@verbs/soft';
import { Problem } from '../../../tools/setup/src/problem.mjs';

/** Debian's modules belong to Debian's Python, whatever other one is on PATH. */
const python = '/usr/bin/python3';
const installedTests = '/usr/share/doc/rdma-core/tests';

/**
 * Where Python and the suite are: this machine, or the root of another release.
 * @typedef {object} Place
 * @property {string} path of the files: '' for this machine
 * @property {(...command: string[]) => string[]} enter the command that runs another one there
 */

/** @type {Place} */
const here = { path: '', enter: (...command) => command };

const driver = join(import.meta.dirname, './run.py');

/** Programs that the tests run, and that would ask the driver of a real card. */
const standIns = join(import.meta.dirname, './stand-in');

/** Far longer than the suite, which ends in seconds. */
const timeLimit = 300_000;

/**
 * One device, which all tests of a run use, and what is not run on it.
 * @typedef {object} Bench
 * @property {string} device its name
 * @property {string} config the software NIC's configuration
 * @property {readonly import('@verbs/soft').SoftModel[]} models
 * @property {(module: string) => boolean} leavesOut
 * @property {string} [also] a Python expression for the names of tests that are run, although their module is left out
 */

/** Tests that are not run on the plain software NIC, with the reason. */
export const leftOut = [
  { modules: /^test_mlx5_/, reason: 'they run on the model of an mlx5 device, by themselves' },
  { modules: /^test_efa/, reason: 'they need an efa device' },
];

/** @type {Bench} */
export const softBench = {
  device: 'soft0',
  config: 'soft0',
  models: [rdmacm],
  leavesOut: (name) => leftOut.some((group) => group.modules.test(name)),
};

/** The tests of mlx5 devices, and those of flows and raw packets, which the model steers. @type {Bench} */
export const mlx5Bench = {
  device: 'mlx5_soft0',
  // Packets within the process leave with the source port that a queue pair has, not with that of a socket.
  config: 'mlx5_soft0,kind=mlx5,lag_ports=2,link=process',
  models: [mlx5],
  leavesOut: (name) =>
    !/^test_(mlx5_.*|flow)$/.test(name) || /^test_mlx5_(rdmacm|vfio|cuda_umem|huge_page)$/.test(name),
  also: String.raw`tests\.test_qp\.QPTest\.test_\w*raw`,
};

/**
 * Runs the suite and returns the result of each test.
 * @param {(text: string) => void} print receives the suite's output as it comes
 * @param {Bench} bench
 * @param {Place} place
 * @returns {Promise<Outcomes>}
 */
export async function runSuite(print, bench = softBench, place = here) {
  for (const path of [python, join(installedTests, '__init__.py')].map((file) => place.path + file)) {
    if (existsSync(path)) continue;
    throw new Problem(
      `${path} is missing: apt-get install python3-pyverbs (with its documentation, where the tests are)`,
    );
  }
  const directory = mkdtempSync(join(tmpdir(), 'verbs-pyverbs-'));
  try {
    const tests = join(directory, 'tests');
    const report = join(directory, 'report.json');
    const modules = copyTests(place.path + installedTests, tests).filter((name) => bench.leavesOut(name));
    const ended = await withHugePages(print, () =>
      run(bench, place, [tests, report, bench.device, bench.also ?? '(?!)', ...modules], print),
    );
    if (!existsSync(report)) throw new Problem(`the suite did not come to its end: ${ended}`);
    return /** @type {Outcomes} */ (JSON.parse(readFileSync(report, 'utf8')));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * Copies the suite, unpacked, and returns the names of its modules.
 * @param {string} from
 * @param {string} directory
 */
function copyTests(from, directory) {
  mkdirSync(directory);
  return readdirSync(from).map((file) => {
    const content = readFileSync(join(from, file));
    const name = file.replace(/\.gz$/, '');
    writeFileSync(join(directory, name), name === file ? content : gunzipSync(content));
    return name.replace(/\.py$/, '');
  });
}

/**
 * The tests of the connection manager take fixed ports of this machine, which processes of one address share: another run has
 * a network of its own, where that can be made.
 */
function apart() {
  return process.getuid?.() === 0 ? ['unshare', '--net', 'sh', '-c', 'ip link set lo up && exec "$0" "$@"'] : [];
}

const hugePages = '/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages';
/** Of 2 MiB: for both ends of a test, and what is on its way to be free again. */
const hugePagesNeeded = 16;

/**
 * Root gives the machine huge pages for a run, which some tests skip without, where it has none. The number is put back.
 * @template T
 * @param {(text: string) => void} print
 * @param {() => Promise<T>} task
 * @returns {Promise<T>}
 */
async function withHugePages(print, task) {
  const set = (/** @type {string} */ count) => {
    try {
      writeFileSync(hugePages, count);
      return true;
    } catch {
      return false; // a container's are the host's
    }
  };
  const count = () => (existsSync(hugePages) ? readFileSync(hugePages, 'utf8').trim() : '');
  const before = count();
  if (process.getuid?.() !== 0 || before !== '0' || !set(String(hugePagesNeeded))) return await task();
  try {
    // The memory may be too fragmented for all: with few of them the tests would run, and fail.
    if (count() === String(hugePagesNeeded)) {
      print(`vm.nr_hugepages is ${hugePagesNeeded} for the run, and was ${before}\n`);
    } else {
      print(`of ${hugePagesNeeded} huge pages the machine had ${count()}: the run has none\n`);
      set(before);
    }
    return await task();
  } finally {
    set(before);
  }
}

/**
 * @param {Bench} bench
 * @param {Place} place
 * @param {string[]} args
 * @param {(text: string) => void} print
 * @returns {Promise<string>} how Python ended
 */
async function run(bench, place, args, print) {
  const machine = machineFor(bench.models);
  // For Python alone: what starts it is a program of this machine.
  const variables = { ...machine.environment, VERBS_SOFT: bench.config, PYTHONDONTWRITEBYTECODE: '1' };
  const path = [standIns, process.env['PATH'], '/usr/sbin', '/usr/bin', '/sbin', '/bin'].join(':');
  const settings = Object.entries({ ...variables, PATH: path }).map(([name, value]) => `${name}=${value}`);
  const [program, ...rest] = [
    ...apart(),
    ...place.enter('env', ...settings, python, '-W', 'ignore', '-u', driver, ...args),
  ];
  const child = spawn(program ?? '', rest, { stdio: ['ignore', 'pipe', 'pipe'] });
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
    machine.remove();
  }
}
