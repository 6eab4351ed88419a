// Files that have not arrived whole. A killed program leaves them; the next one removes what nobody goes on with.
import { readdirSync, readlinkSync, realpathSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** A transfer that rests for so long is given up: its host has long run out of patience. */
const STALE_MS = 24 * 60 * 60 * 1000;

/**
 * Removes the files of a folder that have such a name, were not written for a day, and that no process has open.
 * @param {string} folder
 * @param {(name: string) => boolean} isPart
 */
export function removeStale(folder, isPart) {
  const stale = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && isPart(entry.name))
    .map(({ name }) => join(realpathSync(folder), name))
    .filter((path) => Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity) > STALE_MS);
  if (stale.length === 0) return;
  const open = openFiles();
  for (const path of stale) if (!open.has(path)) rmSync(path, { force: true });
}

/** The files that processes of this machine have open, as far as this user may see them. */
function openFiles() {
  /** @type {Set<string>} */
  const paths = new Set();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    for (const fd of entries(`/proc/${pid}/fd`)) {
      const path = target(`/proc/${pid}/fd/${fd}`);
      if (path !== undefined) paths.add(path);
    }
  }
  return paths;
}

/** @param {string} folder */
function entries(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return []; // another user's, or the process has ended
  }
}

/** @param {string} link */
function target(link) {
  try {
    return readlinkSync(link);
  } catch {
    return undefined;
  }
}
