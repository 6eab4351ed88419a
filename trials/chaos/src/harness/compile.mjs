import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

const build = join(import.meta.dirname, '../../build');

/** The path of what is built. @param {string} name */
const built = (name) => join(build, name);

/**
 * Compiles C sources. The file appears in one step, so that another run that uses it keeps the one it has.
 * @param {string} name of the file
 * @param {string[]} sources
 * @param {{ options?: string[], env?: NodeJS.ProcessEnv }} [more] the compiler's options, and the environment
 * @returns {string} its path
 */
export function compile(name, sources, { options = [], env = process.env } = {}) {
  mkdirSync(build, { recursive: true });
  const made = built(`${name}-${process.pid}`);
  const [compiler = 'cc', ...first] = (env['CC'] ?? 'cc').split(' ');
  const args = ['-std=gnu11', '-O2', '-g', '-Wall', '-Wextra', '-Werror', '-o', made, ...sources, ...options];
  const { status, stderr, error } = spawnSync(compiler, [...first, ...args], { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${sources.join(', ')} does not compile: ${error?.message ?? stderr}`);
  renameSync(made, built(name));
  return built(name);
}

/**
 * Compiles the C sources of a folder, if they are newer than what was made of them.
 * @param {string} name of the file
 * @param {string} folder
 * @param {{ options?: string[], env?: NodeJS.ProcessEnv }} [more]
 * @returns {string} its path
 */
export function buildOnce(name, folder, more) {
  const files = readdirSync(folder).map((file) => join(folder, file));
  const newest = Math.max(...files.map((file) => statSync(file).mtimeMs));
  const made = statSync(built(name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (made > newest) return built(name);
  const sources = files.filter((file) => file.endsWith('.c'));
  return compile(name, sources, more);
}
