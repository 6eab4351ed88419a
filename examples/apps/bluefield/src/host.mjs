// What a host asks of the agent.
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { finish, sizeOf } from './folder.mjs';
import { piece, PIECE_HEAD } from './messages.mjs';
import { removeStale } from './parts.mjs';

/** @import { Link } from './link.mjs' */
/** @import { Source } from './source.mjs' */

/** Bytes on their way that the agent has not reported as stored. */
const WINDOW = 1024 * 1024;

/**
 * A transfer, which goes on over any number of connections.
 * @param {Source} source
 * @param {string} name
 * @param {(bytes: number) => void} onProgress
 * @returns {(link: Link) => Promise<{ bytes: number, sha256: string }>}
 */
export function putOf(source, name, onProgress) {
  const id = randomBytes(16).toString('hex');
  return async (link) => {
    await link.request({ op: 'put', name, id });
    let at = Number((await answer(link, 'have'))['have']);
    let stored = at;
    source.seek(at);
    const note = (/** @type {Record<string, unknown>} */ value) => {
      stored = Number(value['stored'] ?? stored);
      source.stored(stored);
    };
    for (;;) {
      const bytes = await source.read(link.room - PIECE_HEAD);
      if (bytes === undefined) break;
      while (at - stored > WINDOW) note(await answer(link, 'stored'));
      for (let message = link.poll(); message !== undefined; message = link.poll()) {
        if (message.type === 'J') note(message.value);
      }
      await link.send(piece(at, bytes));
      at += bytes.length;
      onProgress(at);
    }
    await link.request({ op: 'end', bytes: at, sha256: await source.hash() });
    const { done } = await answer(link, 'done');
    return /** @type {{ bytes: number, sha256: string }} */ (done);
  };
}

/**
 * Where a file is gathered until it has arrived. What killed programs left of this file goes.
 * @param {string} path of the file
 */
export function partFor(path) {
  const start = `${basename(path)}.part-`;
  removeStale(dirname(path), (name) => name.startsWith(start) && /^[\da-f]{8}$/.test(name.slice(start.length)));
  return `${path}.part-${randomBytes(4).toString('hex')}`;
}

/**
 * @param {string} name
 * @param {{ path: string, part: string }} to
 * @param {(bytes: number, all: number) => void} onProgress
 * @returns {(link: Link) => Promise<{ bytes: number, sha256: string }>}
 */
export function getOf(name, { path, part }, onProgress) {
  return async (link) => {
    let at = sizeOf(part);
    await link.request({ op: 'get', name, offset: at });
    const { bytes, sha256 } = await answer(link, 'sha256');
    const file = openSync(part, 'a');
    try {
      for (let message = await link.next(); message.type === 'D'; message = await link.next()) {
        for (let done = 0; done < message.bytes.length;) done += writeSync(file, message.bytes, done);
        at += message.bytes.length;
        onProgress(at, Number(bytes));
      }
    } finally {
      closeSync(file);
    }
    return finish(part, path, { bytes, sha256 });
  };
}

/** @param {Link} link */
export async function list(link) {
  await link.request({ op: 'list' });
  /** @type {{ name: string, bytes: number }[]} */
  const files = [];
  for (;;) {
    const message = await link.next();
    if (message.type !== 'J' || message.value['file'] === undefined) return files;
    files.push(/** @type {{ name: string, bytes: number }} */ (message.value['file']));
  }
}

/**
 * Runs a command on the DPU.
 * @param {readonly string[]} command
 * @param {(type: 'O' | 'E', bytes: Uint8Array) => void} onOutput
 * @returns {(link: Link) => Promise<{ code: number | null, signal: string | null }>}
 */
export function runOf(command, onOutput) {
  return async (link) => {
    await link.request({ op: 'run', command });
    for (;;) {
      const message = await link.next();
      if (message.type === 'O' || message.type === 'E') onOutput(message.type, message.bytes);
      else if (message.type === 'J' && 'exit' in message.value) return /** @type {any} */ (message.value['exit']);
    }
  };
}

/** The next answer that has a field. @param {Link} link @param {string} field */
async function answer(link, field) {
  for (;;) {
    const message = await link.next();
    if (message.type === 'J' && field in message.value) return message.value;
  }
}
