import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { installMissing } from '../../../../tools/setup/src/debian.mjs';
import { libraryPackages } from '../../../../tools/setup/src/packages.mjs';
import { mustRun } from '../../../../tools/setup/src/shell.mjs';

/** The packages that have targets, in native/fuzz. */
const packagesWithTargets = libraryPackages()
  .map(({ folder }) => folder)
  .filter((folder) => existsSync(join(folder, 'native/fuzz')));

/** The compiler with libFuzzer and coverage; nothing else needs it. */
export const compiler = ['clang-19', 'libclang-rt-19-dev'];

/** @typedef {keyof typeof forms} Form how a target is built */

const forms = {
  // Finds errors of memory and undefined behaviour where they happen.
  checked: { place: 'build/fuzz', sanitizers: 'fuzzer-no-link,address,undefined', flags: '' },
  // Several times faster: with the targets' own checks, and those of the standard library's containers. It counts edges
  // only: to record what each comparison compares takes half of the time of some targets, and the other form does.
  fast: {
    place: 'build/fuzz-fast',
    sanitizers: '',
    flags: '-D_GLIBCXX_ASSERTIONS -fsanitize-coverage=inline-8bit-counters,pc-table -ffunction-sections',
  },
};

/** @param {string} folder a package's */
function targetsOf(folder) {
  return readdirSync(join(folder, 'native/fuzz'))
    .filter((file) => file.endsWith('_target.cc'))
    .map((file) => file.slice(0, -'_target.cc'.length));
}

/** @param {string} target */
export function packageOf(target) {
  const folder = packagesWithTargets.find((candidate) => targetsOf(candidate).includes(target));
  if (folder === undefined) throw new Error(`no package has a fuzz target ${target}`);
  return folder;
}

/** The names of all targets; the NIC's, which is the slow one, comes last. */
export function targetNames() {
  const names = packagesWithTargets.flatMap(targetsOf).sort();
  return [...names.filter((name) => name !== 'nic'), ...names.filter((name) => name === 'nic')];
}

/**
 * Where the target is built and works; below the folder that git ignores.
 * @param {string} target
 */
export function workDirectoryOf(target) {
  return join(packageOf(target), forms.checked.place);
}

/**
 * The target's seeds as the sources have them: a zip archive in OSS-Fuzz's form.
 * @param {string} target
 */
export function seedArchiveOf(target) {
  return join(packageOf(target), 'native/fuzz/seeds', `${target}_seed_corpus.zip`);
}

/**
 * Inputs that once failed, or are worth a name; the folder need not exist.
 * @param {string} target
 */
export function regressionsOf(target) {
  return join(packageOf(target), 'native/fuzz/regressions', target);
}

/**
 * Where the build unpacks the seeds.
 * @param {string} target
 */
export function unpackedSeedsOf(target) {
  return join(workDirectoryOf(target), 'fuzz/seeds', target);
}

/**
 * Where the fuzzer keeps the inputs that it discovers.
 * @param {string} target
 */
export function discoveredOf(target) {
  return join(workDirectoryOf(target), 'corpus', target);
}

/**
 * @param {string} target
 * @param {Form} form
 */
export function programOf(target, form) {
  return join(packageOf(target), forms[form].place, 'fuzz', `fuzz_${target}`);
}

/**
 * Builds the packages of these targets.
 * @param {string[]} targets
 * @param {Form} form
 * @param {NodeJS.ProcessEnv} env
 */
export function buildTargets(targets, form, env) {
  installMissing(compiler);
  const { place, sanitizers, flags } = forms[form];
  const options = [`-DVERBS_SANITIZE=${sanitizers}`, `-DCMAKE_CXX_FLAGS=${flags}`];
  buildFuzzers(targets, place, ['-DCMAKE_BUILD_TYPE=RelWithDebInfo', '-DVERBS_FUZZ=ON', ...options], env);
}

/**
 * @param {string[]} targets
 * @param {string} place below each of their packages
 * @param {string[]} flags of CMake
 * @param {NodeJS.ProcessEnv} env
 */
export function buildFuzzers(targets, place, flags, env) {
  const options = { env: { ...env, CC: 'clang-19', CXX: 'clang++-19' } };
  for (const folder of new Set(targets.map(packageOf))) {
    const build = join(folder, place);
    mustRun('cmake', ['-S', join(folder, 'native'), '-B', build, '-G', 'Ninja', ...flags], options);
    mustRun('cmake', ['--build', build, '--target', 'fuzzers'], options);
  }
}
