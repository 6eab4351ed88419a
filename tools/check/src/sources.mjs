import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { packageDirectories, root } from '../../setup/src/paths.mjs';

const notOurs = new Set(['node_modules', 'build', 'dist', 'test-results', '.turbo']);

/** Every C and C++ source and header of the packages, relative to the root. */
export function cppSources() {
  return packageDirectories()
    .flatMap(walk)
    .filter((path) => /\.(c|cc|h)$/.test(path))
    .map((path) => relative(root, path));
}

/**
 * @param {string} directory
 * @returns {string[]}
 */
function walk(directory) {
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => !notOurs.has(entry.name))
    .flatMap((entry) => {
      const path = join(directory, entry.name);
      return entry.isDirectory() ? walk(path) : entry.isFile() ? [path] : [];
    });
}
