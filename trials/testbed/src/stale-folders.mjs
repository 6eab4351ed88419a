import { lstatSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const prefix = 'verbs-testbed-';

/** Numbers of processes count within a namespace, and containers may share a folder: so the name has both. */
const namespace = /** @type {string} */ (/\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0]);

/** The beginning of the name of this process's folders; `mkdtemp` adds the rest. */
export const folderPrefix = `${prefix}${namespace}-${process.pid}-`;

/**
 * Removes the folders of processes of this user that were killed before they could.
 * @param {string} parent
 * @returns {string[]} the names of those that are gone
 */
export function removeStaleFolders(parent) {
  const stale = readdirSync(parent).filter((name) => {
    const owner = new RegExp(`^${prefix}${namespace}-([0-9]+)-`).exec(name)?.[1];
    if (owner === undefined || isAlive(Number(owner))) return false;
    // Another run may be faster; another user's folder cannot be removed.
    return lstatSync(join(parent, name), { throwIfNoEntry: false })?.uid === process.getuid?.();
  });
  for (const name of stale) rmSync(join(parent, name), { recursive: true, force: true });
  return stale;
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Another user's process is one too.
    return /** @type {NodeJS.ErrnoException} */ (error).code !== 'ESRCH';
  }
}
