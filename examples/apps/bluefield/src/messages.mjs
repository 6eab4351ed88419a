// What the two agents say to each other. A message of the Comm Channel begins with a letter:
//
//   J   JSON: a request of the host, or what the DPU answers
//   D   a piece of a file: its offset (64 bits), and bytes
//   O E a piece of the standard output, or of the standard error, of a command
//
// A connection carries one request at a time. A file that is interrupted goes on in another connection: the receiver says
// how much of it it has.

/** @typedef {{ type: 'J', value: Record<string, unknown> }} Control */
/** @typedef {{ type: 'D', offset: number, bytes: Uint8Array }} Piece */
/** @typedef {{ type: 'O' | 'E', bytes: Uint8Array }} Output */

/** Bytes in front of a piece of a file. */
export const PIECE_HEAD = 9;

/** @param {Record<string, unknown>} value */
export const control = (value) => Buffer.from(`J${JSON.stringify(value)}`);

/** @param {number} offset @param {Uint8Array} bytes */
export function piece(offset, bytes) {
  const message = Buffer.alloc(PIECE_HEAD + bytes.length);
  message.write('D');
  message.writeBigUInt64LE(BigInt(offset), 1);
  message.set(bytes, PIECE_HEAD);
  return message;
}

/** @param {'O' | 'E'} type @param {Uint8Array} bytes */
export const output = (type, bytes) => Buffer.concat([Buffer.from(type), bytes]);

/** @param {Uint8Array} message @returns {Control | Piece | Output} */
export function parse(message) {
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  const type = bytes.toString('latin1', 0, 1);
  if (type === 'J') {
    const value = /** @type {unknown} */ (JSON.parse(bytes.toString('utf8', 1)));
    if (typeof value === 'object' && value !== null) return { type, value: /** @type {any} */ (value) };
  } else if (type === 'O' || type === 'E') return { type, bytes: bytes.subarray(1) };
  else if (type === 'D' && bytes.length >= PIECE_HEAD) {
    return { type, offset: Number(bytes.readBigUInt64LE(1)), bytes: bytes.subarray(PIECE_HEAD) };
  }
  throw new Error('the other agent has sent what is no message of these agents: are they of the same version?');
}
