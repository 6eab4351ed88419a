// `npm run trial sanitize`: the C++ tests of the software NIC and the models on it under AddressSanitizer with
// UndefinedBehaviorSanitizer, and then the tests with threads under ThreadSanitizer.
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { libraryPackages } from '../../tools/setup/src/packages.mjs';
import { root } from '../../tools/setup/src/paths.mjs';
import { record } from '../../tools/check/src/reliability/log.mjs';
import { setUp } from '../../tools/setup/src/set-up.mjs';
import { exitStatus, mustRun } from '../../tools/setup/src/shell.mjs';
import { runCommand } from '../../tools/check/src/command.mjs';

const usage = `Usage: npm run trial sanitize -- [--minutes M] [--list]

Builds the C++ tests of the software NIC (packages/soft/native: its rooms, and the exported functions through the drop-in
library, with a larger stress test) and of the vendors' models on it (those that their packages name) twice, and runs
them: with AddressSanitizer and UndefinedBehaviorSanitizer, leaks included, in build/sanitize of each package, and those
that have threads with ThreadSanitizer in build/sanitize-thread. Then a program whose threads call libibverbs at random
(packages/soft/native/test/threads): as the rules allow with ThreadSanitizer, and as they forbid with AddressSanitizer.
Anything that a sanitizer finds is a failure.

  --minutes M   how long those threads run with ThreadSanitizer, 10 if not given; a tenth of it with AddressSanitizer
  --list        print which tests of which package that is, and run none
  --help        print this text`;

/** The program of a test, which may run once more over another link: abi_test has the tests abi and abi_udp. */
const programOf = (/** @type {string} */ test) => `${test.replace(/_(udp|shm)$/, '')}_test`;

const suppressions = join(root, 'packages/soft/native/test/tsan.supp');
const sanitizers = [
  {
    name: 'AddressSanitizer and UndefinedBehaviorSanitizer',
    flag: 'address,undefined',
    folder: 'build/sanitize',
    options: { ASAN_OPTIONS: 'detect_stack_use_after_return=1', UBSAN_OPTIONS: 'print_stacktrace=1' },
    // Not guard: it tests which stack a handler of SIGSEGV has, and the sanitizer gives threads an alternate one.
    suites: { soft: ['wire', 'link', 'nic', 'cm', 'host', 'abi'], ...ofProviders('address') },
    threads: { rules: ['--illegal'], share: 0.1 },
  },
  {
    name: 'ThreadSanitizer',
    flag: 'thread',
    folder: 'build/sanitize-thread',
    options: { TSAN_OPTIONS: `second_deadlock_stack=1 suppressions=${suppressions}` },
    // Not nic: its unit tests unmap memory and open 10,000 queue pairs, and run the sanitizer's own allocator out of
    // memory. They start no thread; what threads do with the NIC is in host and abi.
    suites: { soft: ['wire', 'link', 'host', 'abi'], ...ofProviders('thread') },
    threads: { rules: [], share: 1 },
  },
];

/**
 * The tests that the providers name in their package.json.
 * @param {'address' | 'thread'} sanitizer
 * @returns {Record<string, string[]>} by the package's folder
 */
function ofProviders(sanitizer) {
  return Object.fromEntries(
    libraryPackages().flatMap(({ folder, verbs }) => {
      const tests = verbs?.sanitize?.[sanitizer];
      return tests === undefined ? [] : [[basename(folder), tests]];
    }),
  );
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
 * @param {string[]} command
 * @returns {[program: string, ...args: string[]]}
 */
const atFixedAddresses = ([program = '', ...args]) =>
  addressesAreTooRandom() ? ['setarch', '-R', program, ...args] : [program, ...args];

/** @param {typeof sanitizers[number]} sanitizer @param {string} name of the package */
const folderOf = (sanitizer, name) => join(root, 'packages', name, sanitizer.folder);

/**
 * @param {typeof sanitizers[number]} sanitizer
 * @param {string} name of the package
 * @param {string[]} targets
 * @param {NodeJS.ProcessEnv} env
 */
function build(sanitizer, name, targets, env) {
  console.error(`sanitize: ${sanitizer.name}: ${name}: building`);
  const folder = folderOf(sanitizer, name);
  const flags = ['-DCMAKE_BUILD_TYPE=Debug', `-DVERBS_SANITIZE=${sanitizer.flag}`];
  if (name !== 'soft') flags.push(`-DVERBS_SOFT_BUILD=${folderOf(sanitizer, 'soft')}`);
  mustRun('cmake', ['-S', join(root, 'packages', name, 'native'), '-B', folder, '-G', 'Ninja', ...flags], { env });
  mustRun('cmake', ['--build', folder, '--target', ...targets], { env });
}

/**
 * @param {typeof sanitizers[number]} sanitizer
 * @param {string} what
 * @param {string[]} command
 * @param {NodeJS.ProcessEnv} env
 */
function isClean(sanitizer, what, command, env) {
  const about = `sanitize: ${sanitizer.name}: ${what}`;
  console.error(`${about}: testing`);
  const [program, ...args] = atFixedAddresses(command);
  const own = { VERBS_STRESS_ROUNDS: '60', ...sanitizer.options };
  const clean = exitStatus(program, args, { env: { ...env, ...own } }) === 0;
  console.error(`${about}: ${clean ? 'clean' : 'FAILED (see above)'}`);
  return clean;
}

/**
 * @param {typeof sanitizers[number]} sanitizer
 * @param {string} name of the package
 * @param {string[]} tests
 * @param {NodeJS.ProcessEnv} env
 */
function testPackage(sanitizer, name, tests, env) {
  build(sanitizer, name, [...new Set(tests.map(programOf))], env);
  const pattern = `^(${tests.join('|')})$`;
  const folder = folderOf(sanitizer, name);
  const ctest = ['ctest', '--test-dir', folder, '--output-on-failure', '--no-tests=error', '-R', pattern];
  return isClean(sanitizer, name, ctest, env);
}

/**
 * @param {typeof sanitizers[number]} sanitizer
 * @param {number} minutes
 * @param {NodeJS.ProcessEnv} env
 */
function testThreads(sanitizer, minutes, env) {
  build(sanitizer, 'soft', ['threads'], env);
  const { rules, share } = sanitizer.threads;
  const time = ['--seconds', String(minutes * 60 * share), '--threads', '6'];
  const program = join(folderOf(sanitizer, 'soft'), 'threads');
  return isClean(sanitizer, 'threads at random', [program, ...time, ...rules], env);
}

/** @param {{ minutes: number, list: boolean }} options */
function sanitize({ minutes, list }) {
  if (list) {
    for (const { name, suites } of sanitizers) {
      for (const [folder, tests] of Object.entries(suites)) console.log(`${name}: ${folder}: ${tests.join(', ')}`);
    }
    return 0;
  }
  const env = setUp({ forTests: true });
  // Each of them, also after a failure of another.
  const results = sanitizers.flatMap((sanitizer) => [
    ...Object.entries(sanitizer.suites).map(([name, tests]) => testPackage(sanitizer, name, tests, env)),
    testThreads(sanitizer, minutes, env),
  ]);
  const passed = results.every(Boolean);
  record({ suite: 'sanitize', passed, figures: { suites: results.length, minutes } });
  return passed ? 0 : 1;
}

/** @param {string[]} args */
function readOptions(args) {
  const options = /** @type {const} */ ({
    minutes: { type: 'string', default: '10' },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  });
  const { values } = parseArgs({ args, options });
  const minutes = Number(values.minutes);
  if (!(minutes >= 0.1)) throw new TypeError(`--minutes ${values.minutes}: give a number from 0.1 on`);
  return { minutes, list: values.list, help: values.help };
}

await runCommand({ name: 'sanitize', usage, read: readOptions, run: sanitize });
