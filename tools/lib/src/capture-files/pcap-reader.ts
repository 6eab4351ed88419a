import type { FileBytes } from './file-bytes.js';
import { type CapturedFrame, CaptureFileError, foreignLink, type FrameOptions, linkOf, MAX_FRAME } from './frame.js';

const FILE_HEADER = 24;
const RECORD_HEADER = 16;
const FCS_PRESENT = 0x0400_0000;

const MICROSECONDS = { littleEndian: true, unit: 1000n };
const NANOSECONDS = { littleEndian: true, unit: 1n };
/** The format by the first four bytes, read in big-endian order. */
const MAGIC = new Map([
  [0xa1b2c3d4, { ...MICROSECONDS, littleEndian: false }],
  [0xd4c3b2a1, MICROSECONDS],
  [0xa1b23c4d, { ...NANOSECONDS, littleEndian: false }],
  [0x4d3cb2a1, NANOSECONDS],
]);

export function isPcap(magic: number): boolean {
  return MAGIC.has(magic);
}

/** The frames of a pcap file, with times in microseconds or nanoseconds, in either byte order. */
export function* pcapFrames(
  bytes: FileBytes,
  path: string,
  { rawIp = false, cutOff = 'refuse' }: FrameOptions = {},
): Generator<CapturedFrame> {
  const header = bytes.peek(FILE_HEADER);
  const kind = header.byteLength < 4 ? undefined : MAGIC.get(header.getUint32(0));
  if (kind === undefined) throw new CaptureFileError(path, 'is no pcap file');
  if (header.byteLength < FILE_HEADER) throw new CaptureFileError(path, 'is cut off in its header');
  const { littleEndian, unit } = kind;
  const linkType = header.getUint32(20, littleEndian);
  const link = linkOf(linkType & 0xffff, rawIp);
  if (link === undefined) throw foreignLink(path, linkType & 0xffff);
  if ((linkType & FCS_PRESENT) !== 0) {
    throw new CaptureFileError(path, 'has frames with their checksums (FCS), which no queue pair sends');
  }
  bytes.skip(FILE_HEADER);
  for (let count = 1; ; count += 1) {
    const record = bytes.peek(RECORD_HEADER);
    if (record.byteLength === 0) return;
    if (record.byteLength < RECORD_HEADER) {
      if (cutOff === 'read') return;
      throw cut(path, count);
    }
    const seconds = record.getUint32(0, littleEndian);
    const fraction = record.getUint32(4, littleEndian);
    const size = record.getUint32(8, littleEndian);
    const originalLength = record.getUint32(12, littleEndian);
    if (size > MAX_FRAME) throw new CaptureFileError(path, `is damaged: frame ${count} would have ${size} bytes`);
    const whole = bytes.peek(RECORD_HEADER + size);
    if (whole.byteLength < RECORD_HEADER + size) {
      if (cutOff === 'read') return;
      throw cut(path, count);
    }
    yield {
      ...(link === 'ip' && { link }),
      data: new Uint8Array(whole.buffer, whole.byteOffset + RECORD_HEADER, size),
      originalLength,
      timestamp: BigInt(seconds) * 1_000_000_000n + BigInt(fraction) * unit,
    };
    bytes.skip(RECORD_HEADER + size);
  }
}

function cut(path: string, count: number): CaptureFileError {
  return new CaptureFileError(path, `is cut off in frame ${count}`);
}
