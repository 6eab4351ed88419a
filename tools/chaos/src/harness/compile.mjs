import { spawnSync } from 'node:child_process';
import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

const build = join(import.meta.dirname, '../../build');

/** The path of what is built. @param {string} name */
export const built = (name) => join(build, name);

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
  const args = ['-std=gnu11', '-O2', '-g', '-Wall', '-Wextra', '-Werror', '-o', made, ...sources, ...options];
  const { status, stderr, error } = spawnSync(env['CC'] ?? 'cc', args, { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${sources.join(', ')} does not compile: ${error?.message ?? stderr}`);
  renameSync(made, built(name));
  return built(name);
}
