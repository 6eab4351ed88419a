// The table in the server's memory: slots of equal size, found by a hash of the key. A slot is
//
//   0   version, 64 bits: even at rest, odd while a writer changes the slot, 0 if it was never written
//   8   length of the key, 32 bits
//   12  length of the value, 32 bits; GONE if the key was deleted
//   16  key, value
//
// in little-endian order. A slot keeps its key for good, so that a reader may stop at the first one without a key.
import { createHash } from 'node:crypto';

export const SLOT_BYTES = 256;
const HEAD = 16;
const GONE = 0xffffffff;

/**
 * What is in a slot. `value` is undefined if the key was deleted.
 * @typedef {{ key: string, value: string | undefined }} Entry
 */

/** Where a key may be: from its hash on. @param {string} key @param {number} slots */
export function* slotsOf(key, slots) {
  const first = createHash('sha256').update(key).digest().readUInt32LE();
  for (let probe = 0; probe < slots; probe++) yield (first + probe) % slots;
}

/** The version in the bytes of a slot. @param {Uint8Array} slot */
export function versionIn(slot) {
  return new DataView(slot.buffer, slot.byteOffset).getBigUint64(0, true);
}

/** @param {Uint8Array} slot @returns {Entry} */
export function entryIn(slot) {
  const view = Buffer.from(slot.buffer, slot.byteOffset, slot.byteLength);
  const keyEnd = HEAD + view.readUInt32LE(8);
  const length = view.readUInt32LE(12);
  const value = length === GONE ? undefined : view.toString('utf8', keyEnd, keyEnd + length);
  return { key: view.toString('utf8', HEAD, keyEnd), value };
}

/**
 * What follows the version of a slot.
 * @param {Entry} entry
 */
export function bodyOf({ key, value }) {
  const [name, text] = [Buffer.from(key), Buffer.from(value ?? '')];
  if (HEAD + name.length + text.length > SLOT_BYTES) {
    throw new RangeError(
      `key and value have ${name.length + text.length} bytes together: at most ${SLOT_BYTES - HEAD} are possible`,
    );
  }
  const body = Buffer.alloc(8 + name.length + text.length);
  body.writeUInt32LE(name.length, 0);
  body.writeUInt32LE(value === undefined ? GONE : text.length, 4);
  name.copy(body, 8);
  text.copy(body, 8 + name.length);
  return body;
}
