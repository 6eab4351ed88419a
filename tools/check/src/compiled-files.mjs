import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { packageDirectories } from '../../setup/src/paths.mjs';
import { mustRun } from '../../setup/src/shell.mjs';

/**
 * A source file, and the folder of the compile_commands.json that says how it is compiled.
 * @typedef {{ database: string, file: string }} CompiledFile
 */

/**
 * Every C++ source that the build compiles, each once. The tests are left out: their framework is all macros.
 * @param {NodeJS.ProcessEnv} env
 * @returns {CompiledFile[]}
 */
export function compiledFiles(env) {
  const databases = packageDirectories().flatMap((directory) => [
    ...nativeDatabase(directory, env),
    ...addonDatabase(directory, env),
  ]);
  const files = new Map();
  for (const database of databases) {
    for (const file of filesOf(database)) files.set(file, { database, file });
  }
  return [...files.values()];
}

/**
 * The folder of a native part's database, in a build folder of its own.
 * @param {string} directory of the package
 * @param {NodeJS.ProcessEnv} env
 */
function nativeDatabase(directory, env) {
  if (!existsSync(join(directory, 'native/CMakeLists.txt'))) return [];
  const build = 'build/by-file';
  mustRun('cmake', ['-S', 'native', '-B', build, '-G', 'Ninja', '-DVERBS_PRECOMPILE=OFF'], { cwd: directory, env });
  return [join(directory, build)];
}

/**
 * The folder of an addon's database. node-gyp writes none unless it is asked to, beside the Makefile it always writes.
 * @param {string} directory of the package
 * @param {NodeJS.ProcessEnv} env
 */
function addonDatabase(directory, env) {
  const addon = 'native/binding';
  if (!existsSync(join(directory, addon, 'binding.gyp'))) return [];
  const formats = ['-f', 'make', '-f', 'compile_commands_json'];

  mustRun('node_modules/.bin/node-gyp', ['-C', addon, 'configure', '--', ...formats], { cwd: directory, env });
  return [join(directory, addon, 'build/Release')];
}

/** @param {string} database */
function filesOf(database) {
  const path = join(database, 'compile_commands.json');
  if (!existsSync(path)) return [];
  const entries = /** @type {{ directory: string, file: string }[]} */ (JSON.parse(readFileSync(path, 'utf8')));
  return entries
    .map((entry) => resolve(entry.directory, entry.file))
    .filter((file) => /\/native\/(?!test\/)/.test(file) && !file.includes('/node_modules/'));
}
