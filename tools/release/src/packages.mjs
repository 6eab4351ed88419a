import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { packageDirectories } from '../../setup/src/paths.mjs';

/**
 * A package of the workspace that is published.
 * @typedef {object} Package
 * @property {string} name
 * @property {string} version
 * @property {string} folder
 * @property {boolean} native whether it has files to build
 */

/**
 * What is published: every package of the workspace that is not private.
 * @returns {Package[]}
 */
export function publishedPackages() {
  return packageDirectories()
    .filter((folder) => readManifest(folder).private !== true)
    .map(packageIn);
}

/**
 * The applications of examples/apps: not published, but packed as if they were.
 * @returns {Package[]}
 */
export function applications() {
  return packageDirectories()
    .filter((folder) => basename(dirname(folder)) === 'apps')
    .map(packageIn);
}

/** @param {string} folder @returns {Package} */
function packageIn(folder) {
  const { name, version } = readManifest(folder);
  return { name, version, folder, native: existsSync(join(folder, 'native')) };
}

/**
 * @typedef {object} Manifest
 * @property {string} name
 * @property {string} version
 * @property {boolean} [private]
 * @property {Record<string, string>} [scripts]
 * @property {Record<string, string>} [dependencies]
 * @property {Record<string, string>} [optionalDependencies]
 * @property {Record<string, string>} [peerDependencies]
 */

/**
 * @param {string} folder
 * @returns {Manifest}
 */
export function readManifest(folder) {
  return /** @type {Manifest} */ (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));
}
