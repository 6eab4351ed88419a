import { closeSync, openSync } from 'node:fs';
import { type Block, blocks } from './blocks.js';
import { FileBytes } from './file-bytes.js';
import { ENHANCED_PACKET } from './block-types.js';
import type { Direction } from './frame.js';

const OPTION_EPB_FLAGS = 2;

export interface CapturedPacket {
  direction: Direction | undefined;
  /** Bytes on the wire, from the IP header on; the capture may hold fewer. */
  length: number;
  /** The captured bytes: a view that lives as long as its block. */
  data: Uint8Array;
}

/** The packet of an enhanced packet block; undefined if the block is too short for one. */
export function packetOf(block: Block): CapturedPacket | undefined {
  const { body, littleEndian } = block;
  if (body.byteLength < 20) return undefined;
  const captured = body.getUint32(12, littleEndian);
  return {
    direction: directionOf(block, captured),
    length: body.getUint32(16, littleEndian),
    data: new Uint8Array(body.buffer, body.byteOffset + 20, Math.min(captured, body.byteLength - 20)),
  };
}

/** The direction of an enhanced packet block with that many captured bytes, if it tells one. */
export function directionOf(block: Block, captured: number): Direction | undefined {
  const flags = option(block, 20 + Math.ceil(captured / 4) * 4, OPTION_EPB_FLAGS);
  const bits = flags?.byteLength === 4 ? flags.getUint32(0, block.littleEndian) & 3 : 0;
  return bits === 1 ? 'received' : bits === 2 ? 'sent' : undefined;
}

/** All packets of a capture, as copies. */
export function packets(path: string): CapturedPacket[] {
  const descriptor = openSync(path, 'r');
  try {
    const all: CapturedPacket[] = [];
    for (const block of blocks(new FileBytes(descriptor), path)) {
      const packet = block.type === ENHANCED_PACKET ? packetOf(block) : undefined;
      if (packet !== undefined) all.push({ ...packet, data: packet.data.slice() });
    }
    return all;
  } finally {
    closeSync(descriptor);
  }
}

/** The first option with that code, of the options that begin at `from`. */
export function option({ body, littleEndian }: Block, from: number, wanted: number): DataView | undefined {
  for (let at = from; at + 4 <= body.byteLength;) {
    const code = body.getUint16(at, littleEndian);
    const length = body.getUint16(at + 2, littleEndian);
    if (code === 0 || at + 4 + length > body.byteLength) return undefined;
    if (code === wanted) return new DataView(body.buffer, body.byteOffset + at + 4, length);
    at += 4 + Math.ceil(length / 4) * 4;
  }
  return undefined;
}
