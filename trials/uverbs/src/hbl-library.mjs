import { realpathSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

/** @returns {string | undefined} the file of the real libhbl that HBL_LIBRARY names */
export function hblLibrary() {
  const path = process.env['HBL_LIBRARY'];
  if (path === undefined || path === '') return undefined;
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) return realpathSync(path);
  throw new TypeError(`HBL_LIBRARY=${path}: there is no such file. Give the path of libhbl.so.1, or unset it`);
}

/**
 * Puts the library where libibverbs and the programs look for it. It must be one and the same file for both: libhbl
 * knows its devices by an address of its own.
 * @param {string} folder
 * @returns {Record<string, string>} for the environment of the programs
 */
export function hblEnvironment(folder) {
  const library = hblLibrary();
  if (library === undefined) return {};
  // libibverbs adds the number of its private interface: 34 from rdma-core 34 to 56.
  for (const name of ['libhbl.so.1', 'libhbl-rdmav34.so']) link(library, join(folder, name));
  return { IBV_DRIVERS: join(folder, 'libhbl'), LD_LIBRARY_PATH: folder };
}

/**
 * @param {string} target
 * @param {string} path
 */
function link(target, path) {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) symlinkSync(target, path);
}
