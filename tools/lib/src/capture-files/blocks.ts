import type { FileBytes } from './file-bytes.js';
import { SECTION_HEADER } from './block-types.js';

const BYTE_ORDER_MAGIC = 0x1a2b3c4d;
/** More than the largest block that the NIC writes: a longer one is damage. */
const MAX_BLOCK = 16 * 1024 * 1024;

/** A block of a pcapng file without its head and tail. */
export interface Block {
  type: number;
  body: DataView;
  /** The byte order of its section. */
  littleEndian: boolean;
}

export interface BlockOptions {
  /** A file that is cut off in its last block: 'read' the blocks before it (default), or 'refuse' the file. */
  cutOff?: 'read' | 'refuse';
}

/** A file's blocks, one after the other. */
export function* blocks(bytes: FileBytes, path: string, { cutOff = 'read' }: BlockOptions = {}): Generator<Block> {
  let littleEndian: boolean | undefined;
  for (;;) {
    const head = bytes.peek(12);
    // The type of a section header reads the same in both byte orders; the header names the order.
    const section = head.byteLength >= 4 && head.getUint32(0, true) === SECTION_HEADER;
    if (littleEndian === undefined && !section) throw new Error(`${path} is no pcapng file`);
    if (head.byteLength === 0) return;
    if (head.byteLength < 12) {
      if (cutOff === 'read') return;
      throw cut(path);
    }
    if (section) littleEndian = byteOrder(head, path);
    const little = littleEndian === true;
    const length = head.getUint32(4, little);
    if (length < 12 || length % 4 !== 0 || length > MAX_BLOCK)
      throw new Error(`${path} is damaged: a block of ${length} bytes`);
    const type = head.getUint32(0, little);
    const block = bytes.peek(length);
    if (block.byteLength < length) {
      if (cutOff === 'read') return;
      throw cut(path);
    }
    const body = new DataView(block.buffer, block.byteOffset + 8, length - 12);
    yield { type, body, littleEndian: little };
    bytes.skip(length);
  }
}

function byteOrder(head: DataView, path: string): boolean {
  if (head.getUint32(8, true) === BYTE_ORDER_MAGIC) return true;
  if (head.getUint32(8, false) === BYTE_ORDER_MAGIC) return false;
  throw new Error(`${path} is damaged: a section without byte order`);
}

function cut(path: string): Error {
  return new Error(`${path} is cut off in its last block`);
}
