/** @import { Driver } from './sysfs.mjs' */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
/** A folder for each release of the distribution: a root of another one has other headers and another C library. */
const build = join(root, 'build', codename());

/** The library that is loaded in front of the C library: the emulated kernel. */
export const kernelLibrary = join(build, 'libuverbs-kernel.so');
/** The C programs with the same calls as the scenarios. */
const twinProgram = join(build, 'twin');
const hblTwinProgram = join(build, 'hbl-twin');

/** @returns {string} of this release */
function codename() {
  return /^VERSION_CODENAME=(.+)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'other';
}

/** @param {Driver} driver */
export const twinOf = (driver) => (driver === 'hbl' ? hblTwinProgram : twinProgram);

/**
 * @param {string} folder
 * @param {string[]} endings
 * @returns {string[]}
 */
function files(folder, endings) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => endings.some((ending) => name.endsWith(ending)))
    .map((name) => join(folder, name))
    .sort();
}

/**
 * @param {string} output
 * @param {string[]} inputs
 */
function isOlder(output, inputs) {
  const made = statSync(output, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return inputs.some((input) => statSync(input).mtimeMs > made);
}

/** Compiles the emulated kernel and the twins, where their sources are newer. */
export function buildNative() {
  mkdirSync(build, { recursive: true });
  const native = join(root, 'native');
  const kernel = join(native, 'kernel');
  const twin = join(native, 'twin');
  const hblTwin = join(native, 'hbl-twin');
  const hblHeaders = join(root, '../../packages/hbl/native/include');
  const common = [`-I${native}`, '-O1', '-g', '-Wall', '-Wextra', '-Werror'];
  if (isOlder(kernelLibrary, files(kernel, ['.cc', '.h']))) {
    const flags = ['-std=c++17', '-fPIC', '-shared', ...common];
    execFileSync('g++', [...flags, '-o', kernelLibrary, ...files(kernel, ['.cc']), '-ldl'], { stdio: 'inherit' });
  }
  if (isOlder(twinProgram, files(twin, ['.c', '.h']))) {
    // The attributes of a flow and what follows them are one packed structure.
    const flags = [...common, '-Wno-address-of-packed-member'];
    execFileSync('gcc', [...flags, '-o', twinProgram, ...files(twin, ['.c']), '-libverbs', '-lmlx5'], {
      stdio: 'inherit',
    });
  }
  const shared = [join(twin, 'support.c'), join(twin, 'fixture.c')];
  if (
    isOlder(hblTwinProgram, [
      ...files(hblTwin, ['.c', '.h']),
      ...files(hblHeaders, ['.h']),
      ...files(twin, ['.h']),
      ...shared,
    ])
  ) {
    const sources = [...files(hblTwin, ['.c']), ...shared];
    execFileSync('gcc', [...common, `-I${hblHeaders}`, '-o', hblTwinProgram, ...sources, '-libverbs', '-ldl'], {
      stdio: 'inherit',
    });
  }
}

/**
 * @param {Driver} driver
 * @returns {string[]} the names of the scenarios, as the driver's twin knows them
 */
export function scenarioNames(driver) {
  return execFileSync(twinOf(driver), { encoding: 'utf8' }).trim().split('\n');
}
