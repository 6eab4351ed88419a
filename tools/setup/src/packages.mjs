import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { packageDirectories, root } from './paths.mjs';

/**
 * A package that programs import.
 * @typedef {object} LibraryPackage
 * @property {string} name
 * @property {string} folder
 * @property {Provided} [verbs] its field `verbs`: the package is a provider, and this is what the project knows of it
 *
 * @typedef {object} Provided
 * @property {string} [kind] the `kind=` of its devices on the software NIC
 * @property {Partial<Record<'address' | 'thread', string[]>>} [sanitize] its tests in C++ that run with sanitizers
 */

/**
 * The packages that programs import: the verbs and the NIC first, then what is beside them, then the vendors'.
 * @returns {LibraryPackage[]}
 */
export function libraryPackages() {
  return packageDirectories()
    .filter((folder) => dirname(folder) === join(root, 'packages'))
    .flatMap((folder) => {
      const {
        name,
        exports,
        verbs,
        private: own = false,
      } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      return exports === undefined || own === true ? [] : [{ name, folder, verbs }];
    })
    .sort((a, b) => rank(a) - rank(b));
}

/** @param {LibraryPackage} about */
function rank({ folder, verbs }) {
  const first = ['core', 'soft'].indexOf(basename(folder));
  if (first !== -1) return first;
  return verbs?.kind === undefined ? 2 : 3;
}
