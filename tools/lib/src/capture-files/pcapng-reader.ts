import { ENHANCED_PACKET, INTERFACE, PACKET, SECTION_HEADER, SIMPLE_PACKET } from './block-types.js';
import { type Block, blocks } from './blocks.js';
import type { FileBytes } from './file-bytes.js';
import { directionOf, option } from './packets.js';
import { type CapturedFrame, CaptureFileError, foreignLink, type FrameOptions, linkOf } from './frame.js';

const OPTION_TSRESOL = 9;
const OPTION_FCSLEN = 13;
const OPTION_TSOFFSET = 14;
const NANOS = 1_000_000_000n;

interface Interface {
  linkType: number;
  /** Maximum captured bytes of a packet; 0 is no limit. */
  snapLength: number;
  ticksPerSecond: bigint;
  offsetSeconds: bigint;
  fcs: boolean;
}

/** The frames of a pcapng file: of all its sections and interfaces, in the order of the file. */
export function* pcapngFrames(
  bytes: FileBytes,
  path: string,
  { rawIp = false, cutOff = 'refuse' }: FrameOptions = {},
): Generator<CapturedFrame> {
  let interfaces: Interface[] = [];
  let count = 0;
  for (const block of blocks(bytes, path, { cutOff })) {
    if (block.type === SECTION_HEADER) interfaces = [];
    else if (block.type === INTERFACE) interfaces.push(readInterface(block, path));
    const read = READERS.get(block.type);
    if (read === undefined) continue;
    count += 1;
    const damaged = (what: string) => new CaptureFileError(path, `is damaged: frame ${count} ${what}`);
    const head = read(block);
    if (head === undefined) throw damaged('is shorter than its header');
    const from = interfaces[head.interfaceId];
    if (from === undefined) throw damaged(`is of interface ${head.interfaceId}, which the file does not describe`);
    const link = linkOf(from.linkType, rawIp);
    if (link === undefined) throw foreignLink(path, from.linkType);
    if (from.fcs) throw new CaptureFileError(path, 'has frames with their checksums (FCS), which no queue pair sends');
    const kept = head.kept ?? Math.min(head.originalLength, from.snapLength === 0 ? Infinity : from.snapLength);
    if (head.at + kept > block.body.byteLength) throw damaged('is longer than its block');
    const direction = block.type === ENHANCED_PACKET ? directionOf(block, kept) : undefined;
    yield {
      ...(link === 'ip' && { link }),
      ...(direction && { direction }),
      data: new Uint8Array(block.body.buffer, block.body.byteOffset + head.at, kept),
      originalLength: head.originalLength,
      timestamp: head.ticks === undefined ? undefined : nanoseconds(head.ticks, from),
    };
  }
}

/** The fields in front of a packet's bytes. */
interface PacketHead {
  interfaceId: number;
  ticks: bigint | undefined;
  /** Undefined where the interface says it. */
  kept: number | undefined;
  originalLength: number;
  /** Where the bytes begin. */
  at: number;
}

/** Enhanced packet blocks, and the packet blocks of old writers: they differ in the first word. */
function timed(size: 16 | 32): (block: Block) => PacketHead | undefined {
  return ({ body, littleEndian }) => {
    if (body.byteLength < 20) return undefined;
    const word = (at: number) => body.getUint32(at, littleEndian);
    return {
      interfaceId: size === 32 ? word(0) : body.getUint16(0, littleEndian),
      ticks: (BigInt(word(4)) << 32n) | BigInt(word(8)),
      kept: word(12),
      originalLength: word(16),
      at: 20,
    };
  };
}

function simple({ body, littleEndian }: Block): PacketHead | undefined {
  if (body.byteLength < 4) return undefined;
  const originalLength = body.getUint32(0, littleEndian);
  return { interfaceId: 0, ticks: undefined, kept: undefined, originalLength, at: 4 };
}

const READERS = new Map([
  [ENHANCED_PACKET, timed(32)],
  [PACKET, timed(16)],
  [SIMPLE_PACKET, simple],
]);

function readInterface(block: Block, path: string): Interface {
  const { body, littleEndian } = block;
  if (body.byteLength < 8) throw new CaptureFileError(path, 'is damaged: an interface without its link type');
  const resolution = option(block, 8, OPTION_TSRESOL);
  const offset = option(block, 8, OPTION_TSOFFSET);
  const fcs = option(block, 8, OPTION_FCSLEN);
  const exponent = resolution?.byteLength === 1 ? resolution.getUint8(0) : 6;
  return {
    linkType: body.getUint16(0, littleEndian),
    snapLength: body.getUint32(4, littleEndian),
    // The first bit chooses between powers of 2 and of 10.
    ticksPerSecond: exponent < 0x80 ? 10n ** BigInt(exponent) : 1n << BigInt(exponent & 0x7f),
    offsetSeconds: offset?.byteLength === 8 ? offset.getBigInt64(0, littleEndian) : 0n,
    fcs: fcs?.byteLength === 1 && fcs.getUint8(0) > 0,
  };
}

function nanoseconds(ticks: bigint, { ticksPerSecond, offsetSeconds }: Interface): bigint {
  return offsetSeconds * NANOS + (ticks * NANOS) / ticksPerSecond;
}
