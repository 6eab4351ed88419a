import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { removeStale } from './parts.mjs';

/** The folder of an agent's files. A file that has not arrived whole has a hidden name. */
export class Folder {
  /** @param {string} path */
  constructor(path) {
    this.path = path;
    mkdirSync(path, { recursive: true });
    removeStale(path, (name) => /^\.part-[\da-f]{32}$/.test(name));
  }

  /** The path of a file by its name: no other folder can be reached. @param {unknown} name */
  pathOf(name) {
    if (typeof name !== 'string' || !/^[^./][^/]*$/.test(name) || name.length > 200 || name.includes('\0')) {
      throw new Error(`${JSON.stringify(name)} is no name of a file: one without / and without a . in front`);
    }
    return join(this.path, name);
  }

  /** Where the pieces of a transfer are gathered. @param {unknown} id of the transfer */
  partOf(id) {
    if (typeof id !== 'string' || !/^[\da-f]{32}$/.test(id)) throw new Error('the transfer has no number');
    return join(this.path, `.part-${id}`);
  }

  list() {
    return readdirSync(this.path, { withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
      .map(({ name }) => ({ name, bytes: statSync(join(this.path, name)).size }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }
}

/** Bytes of a file; 0 if there is none. @param {string} path */
export const sizeOf = (path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** @param {string} path */
export async function hashOf(path) {
  const hash = createHash('sha256');
  const parts = /** @type {AsyncIterable<Buffer>} */ (createReadStream(path));
  for await (const part of parts) hash.update(part);
  return hash.digest('hex');
}

/**
 * Gives a file that has arrived its name, if it is what was sent.
 * @param {string} part
 * @param {string} path
 * @param {{ bytes: unknown, sha256: unknown }} sent
 */
export async function finish(part, path, { bytes, sha256 }) {
  const arrived = sizeOf(part);
  const hash = arrived === bytes ? await hashOf(part) : undefined;
  if (hash === undefined || hash !== sha256) {
    rmSync(part, { force: true });
    throw new Error(
      `the file arrived damaged: ${arrived} of ${String(bytes)} bytes, and another SHA-256; send it again`,
    );
  }
  renameSync(part, path);
  return { bytes: arrived, sha256: hash };
}
