import type { FileBytes } from './file-bytes.js';
import { CaptureFileError, foreignLink, type FrameOptions, FrameRecord, linkOf, MAX_FRAME } from './frame.js';

const FILE_HEADER = 24;
const RECORD_HEADER = 16;
const FCS_PRESENT = 0x0400_0000;

const MICROSECONDS = { littleEndian: true, unit: 1000 };
const NANOSECONDS = { littleEndian: true, unit: 1 };
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
export class PcapReader {
  readonly frame = new FrameRecord();
  readonly start = FILE_HEADER;
  /** The last frame that was read is not whole. */
  cutOff = false;
  readonly #bytes: FileBytes;
  readonly #path: string;
  readonly #refuseCut: boolean;
  readonly #littleEndian: boolean;
  /** Nanoseconds of the fractions' unit. */
  readonly #unit: number;
  #count = 0;

  constructor(bytes: FileBytes, path: string, { rawIp = false, cutOff = 'refuse' }: FrameOptions) {
    this.#bytes = bytes;
    this.#path = path;
    this.#refuseCut = cutOff === 'refuse';
    const size = bytes.at(0, FILE_HEADER);
    const kind = size < 4 ? undefined : MAGIC.get(bytes.view.getUint32(bytes.offset));
    if (kind === undefined) throw new CaptureFileError(path, 'is no pcap file');
    if (size < FILE_HEADER) throw new CaptureFileError(path, 'is cut off in its header');
    this.#littleEndian = kind.littleEndian;
    this.#unit = kind.unit;
    const linkType = bytes.view.getUint32(bytes.offset + 20, kind.littleEndian);
    const link = linkOf(linkType & 0xffff, rawIp);
    if (link === undefined) throw foreignLink(path, linkType & 0xffff);
    if ((linkType & FCS_PRESENT) !== 0) {
      throw new CaptureFileError(path, 'has frames with their checksums (FCS), which no queue pair sends');
    }
    this.frame.link = link;
    this.frame.timed = true;
  }

  /** Behind the last whole record that was read. */
  get end(): number {
    return Math.max(FILE_HEADER, this.frame.next);
  }

  /** Reads the frame at that position of the file into `frame`. False at the end of the file. */
  read(at: number): boolean {
    const { frame } = this;
    const bytes = this.#bytes;
    const little = this.#littleEndian;
    this.#count += 1;
    const head = bytes.at(at, RECORD_HEADER);
    if (head < RECORD_HEADER) return this.#end(head);
    const { view, offset } = bytes;
    const size = view.getUint32(offset + 8, little);
    if (size > MAX_FRAME) {
      throw new CaptureFileError(this.#path, `is damaged: frame ${this.#count} would have ${size} bytes`);
    }
    frame.length = view.getUint32(offset + 12, little);
    this.#time(view.getUint32(offset, little), view.getUint32(offset + 4, little));
    if (bytes.at(at, RECORD_HEADER + size) < RECORD_HEADER + size) return this.#end(RECORD_HEADER);
    frame.at = at;
    frame.next = at + RECORD_HEADER + size;
    frame.view = bytes.view;
    frame.offset = bytes.offset + RECORD_HEADER;
    frame.size = size;
    return true;
  }

  /** In halves of 32 bits: a product of 64 bits is none that a number holds. */
  #time(seconds: number, fraction: number): void {
    const upper = (seconds >>> 16) * 1_000_000_000;
    const lower = (upper % 65536) * 65536 + (seconds & 0xffff) * 1_000_000_000 + fraction * this.#unit;
    const carry = Math.floor(lower / 2 ** 32);
    this.frame.high = Math.floor(upper / 65536) + carry;
    this.frame.low = lower - carry * 2 ** 32;
  }

  #end(rest: number): false {
    if (rest > 0 && this.#refuseCut) throw new CaptureFileError(this.#path, `is cut off in frame ${this.#count}`);
    this.cutOff = rest > 0;
    return false;
  }
}
