import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { hashOf } from './folder.mjs';

/** @import { FileHandle } from 'node:fs/promises' */
/** @import { Readable } from 'node:stream' */

/**
 * What is sent, in pieces. After a loss it goes on at what the receiver has.
 * @typedef {object} Source
 * @property {(length: number) => Promise<Uint8Array | undefined>} read the next bytes; undefined at the end
 * @property {(offset: number) => void} seek
 * @property {(offset: number) => void} stored bytes before it are not needed again
 * @property {() => Promise<string>} hash of everything, after the end
 * @property {() => Promise<void>} close
 */

/** @param {string} path @returns {Promise<Source>} */
export async function fileSource(path) {
  /** @type {FileHandle} */
  const file = await open(path);
  let at = 0;
  return {
    read: async (length) => {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, at);
      at += bytesRead;
      return bytesRead === 0 ? undefined : buffer.subarray(0, bytesRead);
    },
    seek: (offset) => {
      at = offset;
    },
    stored: () => undefined,
    hash: () => hashOf(path),
    close: () => file.close(),
  };
}

/** A stream comes once: what the receiver has not stored is kept. @param {Readable} stream @returns {Source} */
export function streamSource(stream) {
  const hash = createHash('sha256');
  const parts = /** @type {AsyncIterator<Buffer>} */ (stream[Symbol.asyncIterator]());
  let kept = Buffer.alloc(0);
  let first = 0; // the offset of what is kept
  let at = 0;
  return {
    read: async (length) => {
      if (at === first + kept.length) {
        const { value, done } = await parts.next();
        if (done === true) return undefined;
        hash.update(value);
        kept = Buffer.concat([kept, value]);
      }
      const bytes = kept.subarray(at - first, at - first + length);
      at += bytes.length;
      return bytes;
    },
    seek: (offset) => {
      if (offset < first)
        throw new Error(`the agent has lost what it had stored: it asks for byte ${offset} of a stream`);
      at = offset;
    },
    stored: (offset) => {
      kept = kept.subarray(offset - first);
      first = offset;
    },
    hash: () => Promise.resolve(hash.copy().digest('hex')),
    close: () => Promise.resolve(),
  };
}
