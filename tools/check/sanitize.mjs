// `npm run test:sanitize`: the C++ tests of @verbs/soft and @verbs/mlx5 under AddressSanitizer with
// UndefinedBehaviorSanitizer, and then those that have threads under ThreadSanitizer.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { root } from '../setup/src/paths.mjs';
import { runProgram } from '../setup/src/program.mjs';
import { setUp } from '../setup/src/set-up.mjs';
import { exitStatus, mustRun } from '../setup/src/shell.mjs';

const usage = `Usage: npm run test:sanitize

Builds the tests of packages/soft/native (the rooms of the NIC, and the exported functions through the drop-in library,
with a larger stress test) twice, and runs them: with AddressSanitizer and UndefinedBehaviorSanitizer in
packages/soft/build/sanitize, leaks included, and with ThreadSanitizer in packages/soft/build/sanitize-thread. The tests
of packages/mlx5/native (the steering engine and the model, which start no thread) run with the former, in
packages/mlx5/build/sanitize.
Anything that a sanitizer finds is a failure.`;

const soft = join(root, 'packages/soft');
const mlx5 = join(root, 'packages/mlx5');

const addressOptions = { ASAN_OPTIONS: 'detect_stack_use_after_return=1', UBSAN_OPTIONS: 'print_stacktrace=1' };

const sanitizers = [
  {
    name: 'AddressSanitizer and UndefinedBehaviorSanitizer',
    flag: 'address,undefined',
    owner: soft,
    tests: ['wire', 'link', 'nic', 'host', 'abi'],
    build: 'build/sanitize',
    options: addressOptions,
  },
  {
    name: 'AddressSanitizer and UndefinedBehaviorSanitizer on the steering engine and the model of mlx5 devices',
    flag: 'address,undefined',
    owner: mlx5,
    tests: ['steering', 'model'],
    build: 'build/sanitize',
    options: addressOptions,
  },
  {
    name: 'ThreadSanitizer',
    flag: 'thread',
    // Not nic: its unit tests unmap memory and open 10,000 queue pairs, and run the sanitizer's own allocator out of memory.
    // They start no thread; what threads do with the NIC is in host and abi.
    owner: soft,
    tests: ['wire', 'link', 'host', 'abi'],
    build: 'build/sanitize-thread',
    options: { TSAN_OPTIONS: `second_deadlock_stack=1 suppressions=${join(soft, 'native/test/tsan.supp')}` },
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
 * @param {NodeJS.ProcessEnv} env
 */
function isClean({ name, flag, owner, tests, build, options }, env) {
  console.error(`sanitize: ${name}: building`);
  const folder = join(owner, build);
  const flags = ['-DCMAKE_BUILD_TYPE=Debug', `-DVERBS_SANITIZE=${flag}`];
  mustRun('cmake', ['-S', join(owner, 'native'), '-B', folder, '-G', 'Ninja', ...flags], { env });
  mustRun('cmake', ['--build', folder, '--target', ...tests.map((test) => `${test}_test`)], { env });
  console.error(`sanitize: ${name}: testing`);
  const pattern = `^(${tests.join('|')})$`;
  const ctest = ['ctest', '--test-dir', folder, '--output-on-failure', '--no-tests=error', '-R', pattern];
  const [program = '', ...args] = addressesAreTooRandom() ? ['setarch', '-R', ...ctest] : ctest;
  const own = { VERBS_STRESS_ROUNDS: '60', ...options };
  const clean = exitStatus(program, args, { env: { ...env, ...own } }) === 0;
  console.error(`sanitize: ${name}: ${clean ? 'clean' : 'FAILED (see above)'}`);
  return clean;
}

/** @param {string[]} args */
function sanitize(args) {
  if (args.length > 0) {
    console.error(`${args[0] === '--help' ? '' : `sanitize: unknown argument '${args[0] ?? ''}'\n\n`}${usage}`);
    return args[0] === '--help' ? 0 : 2;
  }
  const env = setUp({ forTests: true });
  // Each of them, whatever the one before found.
  const results = sanitizers.map((sanitizer) => isClean(sanitizer, env));
  return results.every(Boolean) ? 0 : 1;
}

await runProgram('sanitize', () => sanitize(process.argv.slice(2)));
