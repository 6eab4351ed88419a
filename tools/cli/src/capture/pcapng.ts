import { closeSync, openSync, readSync } from 'node:fs';

/** What a pcapng file holds, as far as a summary needs it. */
export interface CaptureSummary {
  /** Sections: one for each process and device that captured. */
  sections: number;
  packets: number;
  /** Bytes of the packets on the wire, from the IP header on, however little of each was kept. */
  bytes: number;
  sent: number;
  received: number;
  /** Why packets are missing (a full disk, for one), in the words that the NIC left in its section. */
  incomplete: string[];
}

const SECTION_HEADER = 0x0a0d0d0a;
const ENHANCED_PACKET = 6;
const BYTE_ORDER_MAGIC = 0x1a2b3c4d;
const OPTION_COMMENT = 1;
const OPTION_EPB_FLAGS = 2;
const INCOMPLETE = 'capture incomplete: ';
/** More than the largest block that the NIC writes, so that a damaged length is noticed. */
const MAX_BLOCK = 16 * 1024 * 1024;

/** Walks over a capture's blocks. A file that is cut off in its last block is read up to there. */
export function summarize(path: string): CaptureSummary {
  const summary: CaptureSummary = { sections: 0, packets: 0, bytes: 0, sent: 0, received: 0, incomplete: [] };
  const descriptor = openSync(path, 'r');
  try {
    for (const block of blocks(descriptor, path)) {
      if (block.type === SECTION_HEADER) addSection(summary, block.body);
      else if (block.type === ENHANCED_PACKET) addPacket(summary, block.body);
    }
  } finally {
    closeSync(descriptor);
  }
  return summary;
}

interface Block {
  type: number;
  body: DataView;
}

function* blocks(descriptor: number, path: string): Generator<Block> {
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

function addSection(summary: CaptureSummary, body: DataView): void {
  summary.sections += 1;
  const comment = option(body, 16, OPTION_COMMENT);
  if (comment === undefined) return;
  const text = new TextDecoder().decode(comment).trimEnd();
  if (text.startsWith(INCOMPLETE)) summary.incomplete.push(text.slice(INCOMPLETE.length));
}

function addPacket(summary: CaptureSummary, body: DataView): void {
  if (body.byteLength < 20) return;
  const captured = body.getUint32(12, true);
  summary.packets += 1;
  summary.bytes += body.getUint32(16, true);
  const flags = option(body, 20 + Math.ceil(captured / 4) * 4, OPTION_EPB_FLAGS);
  if (flags?.byteLength !== 4) return;
  const direction = flags.getUint32(0, true) & 3;
  if (direction === 1) summary.received += 1;
  else if (direction === 2) summary.sent += 1;
}

function option(body: DataView, from: number, wanted: number): DataView | undefined {
  for (let at = from; at + 4 <= body.byteLength;) {
    const code = body.getUint16(at, true);
    const length = body.getUint16(at + 2, true);
    if (code === 0 || at + 4 + length > body.byteLength) return undefined;
    if (code === wanted) return new DataView(body.buffer, body.byteOffset + at + 4, length);
    at += 4 + Math.ceil(length / 4) * 4;
  }
  return undefined;
}
