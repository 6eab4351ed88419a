import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const build = join(root, 'build');

/** The library that is loaded in front of the C library: the emulated kernel. */
export const kernelLibrary = join(build, 'libuverbs-kernel.so');
/** The C program with the same calls as the scenarios. */
export const twinProgram = join(build, 'twin');

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

/** Compiles the emulated kernel and the twin, where their sources are newer. */
export function buildNative() {
  mkdirSync(build, { recursive: true });
  const kernel = join(root, 'native/kernel');
  const twin = join(root, 'native/twin');
  const warnings = ['-O1', '-g', '-Wall', '-Wextra', '-Werror'];
  if (isOlder(kernelLibrary, files(kernel, ['.cc', '.h']))) {
    const sources = files(kernel, ['.cc']);
    const flags = ['-std=c++17', '-fPIC', '-shared', `-I${join(root, 'native')}`, ...warnings];
    execFileSync('g++', [...flags, '-o', kernelLibrary, ...sources, '-ldl'], { stdio: 'inherit' });
  }
  if (isOlder(twinProgram, files(twin, ['.c', '.h']))) {
    const sources = files(twin, ['.c']);
    // The attributes of a flow and what follows them are one packed structure.
    const flags = [...warnings, '-Wno-address-of-packed-member'];
    execFileSync('gcc', [...flags, '-o', twinProgram, ...sources, '-libverbs', '-lmlx5'], { stdio: 'inherit' });
  }
}

/** @returns {string[]} the names of the scenarios, as the twin knows them */
export function scenarioNames() {
  return execFileSync(twinProgram, { encoding: 'utf8' }).trim().split('\n');
}
