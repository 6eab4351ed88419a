// `npm run test:sanitize`: the C++ unit tests of @verbs/soft under AddressSanitizer and UndefinedBehaviorSanitizer.
import { join } from 'node:path';
import process from 'node:process';
import { root } from '../setup/src/paths.mjs';
import { runProgram } from '../setup/src/program.mjs';
import { setUp } from '../setup/src/set-up.mjs';
import { exitStatus, mustRun } from '../setup/src/shell.mjs';

const usage = `Usage: npm run test:sanitize

Builds the unit tests of the rooms of packages/soft/native with AddressSanitizer and UndefinedBehaviorSanitizer in
packages/soft/build/sanitize, and runs them. Anything that a sanitizer finds is a failure, leaks included.`;

/** The rooms of the NIC; each has a test program of its own. */
const rooms = ['wire', 'link', 'nic', 'host'];

/** @param {string[]} args */
function sanitize(args) {
  if (args.length > 0) {
    console.error(`${args[0] === '--help' ? '' : `sanitize: unknown argument '${args[0] ?? ''}'\n\n`}${usage}`);
    return args[0] === '--help' ? 0 : 2;
  }
  const env = setUp({ forTests: true });
  const build = join(root, 'packages/soft/build/sanitize');
  const flags = ['-DCMAKE_BUILD_TYPE=Debug', '-DVERBS_SANITIZE=address,undefined'];
  mustRun('cmake', ['-S', join(root, 'packages/soft/native'), '-B', build, '-G', 'Ninja', ...flags], { env });
  mustRun('cmake', ['--build', build, '--target', ...rooms.map((room) => `${room}_test`)], { env });
  const own = { ASAN_OPTIONS: 'detect_stack_use_after_return=1', UBSAN_OPTIONS: 'print_stacktrace=1' };
  const pattern = `^(${rooms.join('|')})$`;
  const ctest = ['--test-dir', build, '--output-on-failure', '--no-tests=error', '-R', pattern];
  return exitStatus('ctest', ctest, { env: { ...env, ...own } });
}

await runProgram('sanitize', () => sanitize(process.argv.slice(2)));
