import { readSync } from 'node:fs';
import { SECTION_HEADER } from './types.js';

const BYTE_ORDER_MAGIC = 0x1a2b3c4d;
/** More than the largest block that the NIC writes, so that a damaged length is noticed. */
const MAX_BLOCK = 16 * 1024 * 1024;

/** A block of a pcapng file without its head and tail. */
export interface Block {
  type: number;
  body: DataView;
}

/** A file's blocks, one after the other. A file that is cut off in its last block is read up to there. */
export function* blocks(descriptor: number, path: string): Generator<Block> {
  let buffer = Buffer.alloc(1 << 20);
  let start = 0;
  let end = 0;
  const fill = (wanted: number): boolean => {
    if (end - start >= wanted) return true;
    if (wanted > buffer.length) {
      const larger = Buffer.alloc(wanted * 2);
      buffer.copy(larger, 0, start, end);
      buffer = larger;
    } else {
      buffer.copy(buffer, 0, start, end);
    }
    end -= start;
    start = 0;
    while (end < wanted) {
      const count = readSync(descriptor, buffer, end, buffer.length - end, null);
      if (count === 0) return false;
      end += count;
    }
    return true;
  };
  let first = true;
  while (fill(12)) {
    const type = buffer.readUInt32LE(start);
    if (first && type !== SECTION_HEADER) throw new Error(`${path} is no pcapng file`);
    first = false;
    if (type === SECTION_HEADER && buffer.readUInt32LE(start + 8) !== BYTE_ORDER_MAGIC) {
      throw new Error(`${path} holds a section in the other byte order, which this machine does not write`);
    }
    const length = buffer.readUInt32LE(start + 4);
    if (length < 12 || length % 4 !== 0 || length > MAX_BLOCK)
      throw new Error(`${path} is damaged: a block of ${length} bytes`);
    if (!fill(length)) return;
    yield { type, body: new DataView(buffer.buffer, buffer.byteOffset + start + 8, length - 12) };
    start += length;
  }
}
