import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { installMissing } from '../../../setup/src/debian.mjs';
import { root } from '../../../setup/src/paths.mjs';
import { mustRun } from '../../../setup/src/shell.mjs';

const native = join(root, 'packages/soft/native');

/** Where the targets are built and work; below the folder that git ignores. */
export const workDirectory = join(root, 'packages/soft/build/fuzz');
/** The inputs that are part of the sources. */
export const committedCorpus = join(native, 'fuzz/corpus');

/** The compiler with libFuzzer; nothing else needs it. */
const packages = ['clang-19', 'libclang-rt-19-dev'];

const sanitizers = 'fuzzer-no-link,address,undefined';

/** The names of all targets; the NIC's, which is the slow one, comes last. */
export function targetNames() {
  const names = readdirSync(join(native, 'fuzz'))
    .filter((file) => file.endsWith('_target.cc'))
    .map((file) => file.slice(0, -'_target.cc'.length))
    .sort();
  return [...names.filter((name) => name !== 'nic'), ...names.filter((name) => name === 'nic')];
}

/** @param {string} name */
export function programOf(name) {
  return join(workDirectory, 'fuzz', `fuzz_${name}`);
}

/** @param {NodeJS.ProcessEnv} env */
export function buildTargets(env) {
  installMissing(packages);
  const options = { env: { ...env, CC: 'clang-19', CXX: 'clang++-19' } };
  const flags = ['-DCMAKE_BUILD_TYPE=RelWithDebInfo', '-DVERBS_FUZZ=ON', `-DVERBS_SANITIZE=${sanitizers}`];
  mustRun('cmake', ['-S', native, '-B', workDirectory, '-G', 'Ninja', ...flags], options);
  mustRun('cmake', ['--build', workDirectory, '--target', 'fuzzers'], options);
}
