// `npm run test:sanitize`: the C++ tests of the software NIC and the models on it under AddressSanitizer with
// UndefinedBehaviorSanitizer, and then the tests with threads under ThreadSanitizer.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../setup/src/paths.mjs';
import { setUp } from '../setup/src/set-up.mjs';
import { exitStatus, mustRun } from '../setup/src/shell.mjs';
import { runCommand } from './src/command.mjs';

const usage = `Usage: npm run test:sanitize

Builds the C++ tests of the software NIC (packages/soft/native: its rooms, and the exported functions through the drop-in
library, with a larger stress test) and of the vendors' models on it (packages/mlx5, hbl and doca-comm) twice, and runs
them: with AddressSanitizer and UndefinedBehaviorSanitizer, leaks included, in build/sanitize of each package, and those
that have threads with ThreadSanitizer in build/sanitize-thread.
Anything that a sanitizer finds is a failure.`;

const suppressions = join(root, 'packages/soft/native/test/tsan.supp');
const sanitizers = [
  {
    name: 'AddressSanitizer and UndefinedBehaviorSanitizer',
    flag: 'address,undefined',
    folder: 'build/sanitize',
    options: { ASAN_OPTIONS: 'detect_stack_use_after_return=1', UBSAN_OPTIONS: 'print_stacktrace=1' },
    tests: {
      soft: ['wire', 'link', 'nic', 'host', 'abi'],
      mlx5: ['steering', 'model'],
      hbl: ['hbl'],
      'doca-comm': ['errors', 'security'],
    },
  },
  {
    name: 'ThreadSanitizer',
    flag: 'thread',
    folder: 'build/sanitize-thread',
    options: { TSAN_OPTIONS: `second_deadlock_stack=1 suppressions=${suppressions}` },
    tests: {
      // Not nic: its unit tests unmap memory and open 10,000 queue pairs, and run the sanitizer's own allocator out of
      // memory. They start no thread; what threads do with the NIC is in host and abi.
      soft: ['wire', 'link', 'host', 'abi'],
      'doca-comm': ['errors', 'security'],
    },
  },
];

/** More random bits in the addresses than the sanitizers of GCC 12 can have: they need a run without. */
function addressesAreTooRandom() {
  try {
    return Number(readFileSync('/proc/sys/vm/mmap_rnd_bits', 'utf8')) > 28;
  } catch {
    return false;
  }
}

/**
 * @param {typeof sanitizers[number]} sanitizer
 * @param {string} name of the package
 * @param {string[]} tests
 * @param {NodeJS.ProcessEnv} env
 */
function isClean(sanitizer, name, tests, env) {
  const about = `sanitize: ${sanitizer.name}: ${name}`;
  console.error(`${about}: building`);
  const folder = join(root, 'packages', name, sanitizer.folder);
  const flags = ['-DCMAKE_BUILD_TYPE=Debug', `-DVERBS_SANITIZE=${sanitizer.flag}`];
  if (name !== 'soft') flags.push(`-DVERBS_SOFT_BUILD=${join(root, 'packages/soft', sanitizer.folder)}`);
  mustRun('cmake', ['-S', join(root, 'packages', name, 'native'), '-B', folder, '-G', 'Ninja', ...flags], { env });
  mustRun('cmake', ['--build', folder, '--target', ...tests.map((test) => `${test}_test`)], { env });
  console.error(`${about}: testing`);
  const pattern = `^(${tests.join('|')})$`;
  const ctest = ['ctest', '--test-dir', folder, '--output-on-failure', '--no-tests=error', '-R', pattern];
  const [program = '', ...args] = addressesAreTooRandom() ? ['setarch', '-R', ...ctest] : ctest;
  const own = { VERBS_STRESS_ROUNDS: '60', ...sanitizer.options };
  const clean = exitStatus(program, args, { env: { ...env, ...own } }) === 0;
  console.error(`${about}: ${clean ? 'clean' : 'FAILED (see above)'}`);
  return clean;
}

function sanitize() {
  const env = setUp({ forTests: true });
  // Each of them, also after a failure of another.
  const results = sanitizers.flatMap((sanitizer) =>
    Object.entries(sanitizer.tests).map(([name, tests]) => isClean(sanitizer, name, tests, env)),
  );
  return results.every(Boolean) ? 0 : 1;
}

/** @param {string[]} args */
const readOptions = (args) => parseArgs({ args, options: { help: { type: 'boolean', default: false } } }).values;

await runCommand({ name: 'sanitize', usage, read: readOptions, run: sanitize });
