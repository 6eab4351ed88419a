import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { typescriptImports } from './typescript-imports.mjs';

/** Top to bottom: what proves the product, what builds it, what people copy, what they install. */
const shelves = ['trials', 'tools', 'examples', 'packages'];

const notOurs = new Set(['node_modules', 'build', 'dist', 'test-results', '.turbo']);

/**
 * What a package takes from a shelf above its own, by an import or as a dependency: a user installs packages and copies
 * examples, and neither can need what only this repository has.
 *
 * @param {string} root of the repository
 * @param {string[]} folders of its packages
 * @returns {string[]}
 */
export function climbs(root, folders) {
  const shelfOf = (/** @type {string} */ path) => shelves.indexOf(relative(root, path).split(sep)[0] ?? '');
  // Files of the repository's root, which configure the tools, are on no shelf.
  const isAbove = (/** @type {number} */ shelf, /** @type {number} */ own) => shelf !== -1 && shelf < own;
  const folderOf = new Map(folders.map((folder) => [manifest(folder).name, folder]));
  const name = (/** @type {string} */ path) => relative(root, path);
  return folders.flatMap((folder) => {
    const below = shelfOf(folder);
    const imports = sources(folder, new Set(folders))
      .flatMap((file) => typescriptImports(file))
      .filter(({ to }) => isAbove(shelfOf(to), below))
      .map(({ from, to }) => `${name(from)} imports ${name(to)}`);
    const { dependencies, devDependencies, peerDependencies } = manifest(folder);
    const dependsOn = Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies })
      .map((dependency) => folderOf.get(dependency))
      .filter((to) => to !== undefined)
      .filter((to) => isAbove(shelfOf(to), below))
      .map((to) => `${name(folder)} depends on ${name(to)}`);
    return [...imports, ...dependsOn].map((finding) => `${finding}, which is on a shelf above it`);
  });
}

/**
 * @typedef {Record<string, string> | undefined} Versions
 * @param {string} folder
 * @returns {{ name: string, dependencies: Versions, devDependencies: Versions, peerDependencies: Versions }}
 */
function manifest(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

/**
 * The modules of a package, its tests and its programs too, without those of packages within it.
 * @param {string} folder @param {Set<string>} packages
 * @returns {string[]}
 */
function sources(folder, packages) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return notOurs.has(entry.name) || packages.has(path) ? [] : sources(path, packages);
    return /\.(ts|mjs)$/.test(entry.name) ? [path] : [];
  });
}
