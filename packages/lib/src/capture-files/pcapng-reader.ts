import { ENHANCED_PACKET, INTERFACE, JOURNAL, PACKET, SECTION_HEADER, SIMPLE_PACKET } from './block-types.js';
import type { FileBytes } from './file-bytes.js';
import { type JournalFields, journalFields } from './journal.js';
import { CaptureFileError, type Direction, foreignLink, type FrameOptions, FrameRecord, linkOf } from './frame.js';

const OPTION_COMMENT = 1;
const OPTION_EPB_FLAGS = 2;
const OPTION_TSRESOL = 9;
const OPTION_FCSLEN = 13;
const OPTION_TSOFFSET = 14;
const BYTE_ORDER_MAGIC = 0x1a2b3c4d;
/** More than the largest block that the NIC writes: a longer one is damage. */
const MAX_BLOCK = 16 * 1024 * 1024;
/** Of a file of another program: so many are kept. */
const MOST_ENTRIES = 20_000;
const NANOS = 1_000_000_000n;
const WORD = 2 ** 32;
/** Nanoseconds of a tick up to here, times a word, are a number without rounding. */
const MOST_NANOSECONDS = 1_000_000;

interface Interface {
  linkType: number;
  link: 'ip' | 'ethernet' | undefined;
  /** Maximum captured bytes of a packet; Infinity is no limit. */
  snapLength: number;
  ticksPerSecond: bigint;
  offsetSeconds: bigint;
  /** The nanoseconds of a tick where that is all there is to do; else 0. */
  nanoseconds: number;
  fcs: boolean;
}

interface Section {
  /** Where it begins. */
  at: number;
  littleEndian: boolean;
  interfaces: Interface[];
}

/** The frames of a pcapng file: of all its sections and interfaces. */
export class PcapngReader {
  readonly frame = new FrameRecord();
  readonly start = 0;
  /** The last block that was read is not whole. */
  cutOff = false;
  /** The comments of the sections that were met so far; '' for a section without one. */
  readonly comments: string[] = [];
  /** The journal entries that were met so far. */
  readonly journal: JournalFields[] = [];
  readonly #bytes: FileBytes;
  readonly #path: string;
  readonly #rawIp: boolean;
  readonly #refuseCut: boolean;
  readonly #sections: Section[] = [];
  #section: Section = { at: Infinity, littleEndian: true, interfaces: [] };
  #sectionEnd = 0;
  /** Up to here sections and interfaces are known. */
  #known = 0;
  #count = 0;

  constructor(bytes: FileBytes, path: string, { rawIp = false, cutOff = 'refuse' }: FrameOptions) {
    this.#bytes = bytes;
    this.#path = path;
    this.#rawIp = rawIp;
    this.#refuseCut = cutOff === 'refuse';
  }

  /** Behind the last whole block that was read. */
  get end(): number {
    return this.#known;
  }

  /**
   * Reads the first frame at or behind that position of the file into `frame`. False at the end of the file. All blocks in
   * front of the position have been read before.
   */
  read(from: number): boolean {
    const bytes = this.#bytes;
    for (let at = from; ;) {
      const head = bytes.at(at, 12);
      if (head < 12) return this.#end(head);
      const section = bytes.view.getUint32(bytes.offset, true) === SECTION_HEADER;
      if (section && at >= this.#known) this.#begin(at);
      this.#enter(at);
      const { littleEndian } = this.#section;
      const type = bytes.view.getUint32(bytes.offset, littleEndian);
      const length = bytes.view.getUint32(bytes.offset + 4, littleEndian);
      if (length < 12 || length % 4 !== 0 || length > MAX_BLOCK) {
        throw new CaptureFileError(this.#path, `is damaged: a block of ${length} bytes`);
      }
      if (bytes.at(at, length) < length) return this.#end(length);
      const { view } = bytes;
      const body = bytes.offset + 8;
      const end = bytes.offset + length - 4;
      if (at >= this.#known) {
        if (section) this.comments.push(comment(view, body + 16, end, littleEndian));
        else if (type === INTERFACE) this.#section.interfaces.push(this.#interface(view, body, end));
        else if (type === JOURNAL && this.journal.length < MOST_ENTRIES)
          this.journal.push(journalFields(new Uint8Array(view.buffer, view.byteOffset + body, end - body)));
        this.#known = at + length;
      }
      this.frame.at = at;
      this.frame.next = at + length;
      if (type === ENHANCED_PACKET || type === PACKET) this.#timed(type, view, body, end);
      else if (type === SIMPLE_PACKET) this.#simple(view, body, end);
      else {
        at += length;
        continue;
      }
      return true;
    }
  }

  #end(rest: number): false {
    if (rest > 0 && this.#refuseCut) throw new CaptureFileError(this.#path, 'is cut off in its last block');
    this.cutOff = rest > 0;
    return false;
  }

  /** A section begins; `#bytes` has its head. The type of its block reads the same in both byte orders. */
  #begin(at: number): void {
    const { view, offset } = this.#bytes;
    const littleEndian = view.getUint32(offset + 8, true) === BYTE_ORDER_MAGIC;
    if (!littleEndian && view.getUint32(offset + 8, false) !== BYTE_ORDER_MAGIC) {
      throw new CaptureFileError(this.#path, 'is damaged: a section without byte order');
    }
    this.#sections.push({ at, littleEndian, interfaces: [] });
    this.#sectionEnd = 0;
  }

  /** Finds the section of a position. */
  #enter(at: number): void {
    if (at >= this.#section.at && at < this.#sectionEnd) return;
    let low = 0;
    let high = this.#sections.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#sections[middle]?.at ?? 0) > at) high = middle;
      else low = middle + 1;
    }
    const found = this.#sections[low - 1];
    if (found === undefined) throw new CaptureFileError(this.#path, 'is no pcapng file');
    this.#section = found;
    this.#sectionEnd = this.#sections[low]?.at ?? Infinity;
  }

  /** An enhanced packet block, or a packet block of old writers: they differ in the first word. */
  #timed(type: number, view: DataView<ArrayBuffer>, body: number, end: number): void {
    const { frame } = this;
    const { littleEndian } = this.#section;
    this.#count += 1;
    if (body + 20 > end) throw this.#damaged('is shorter than its header');
    const enhanced = type === ENHANCED_PACKET;
    const from = this.#from(enhanced ? view.getUint32(body, littleEndian) : view.getUint16(body, littleEndian));
    const size = view.getUint32(body + 12, littleEndian);
    this.#place(view, body + 20, end, size);
    frame.link = from.link ?? 'ethernet';
    frame.length = view.getUint32(body + 16, littleEndian);
    frame.direction = enhanced ? direction(view, body + 20 + Math.ceil(size / 4) * 4, end, littleEndian) : undefined;
    frame.timed = true;
    const high = view.getUint32(body + 4, littleEndian);
    const low = view.getUint32(body + 8, littleEndian);
    if (from.nanoseconds > 0 && high * from.nanoseconds < 0x7fff_0000) {
      const product = low * from.nanoseconds;
      const carry = Math.floor(product / WORD);
      frame.high = high * from.nanoseconds + carry;
      frame.low = product - carry * WORD;
    } else {
      const ticks = (BigInt(high) << 32n) | BigInt(low);
      frame.nanoseconds = from.offsetSeconds * NANOS + (ticks * NANOS) / from.ticksPerSecond;
    }
  }

  #simple(view: DataView<ArrayBuffer>, body: number, end: number): void {
    const { frame } = this;
    this.#count += 1;
    if (body + 4 > end) throw this.#damaged('is shorter than its header');
    const from = this.#from(0);
    frame.link = from.link ?? 'ethernet';
    frame.length = view.getUint32(body, this.#section.littleEndian);
    this.#place(view, body + 4, end, Math.min(frame.length, from.snapLength));
    frame.direction = undefined;
    frame.timed = false;
    frame.high = 0;
    frame.low = 0;
  }

  #place(view: DataView<ArrayBuffer>, at: number, end: number, size: number): void {
    if (at + size > end) throw this.#damaged('is longer than its block');
    this.frame.view = view;
    this.frame.offset = at;
    this.frame.size = size;
  }

  #from(id: number): Interface {
    const found = this.#section.interfaces[id];
    if (found === undefined) throw this.#damaged(`is of interface ${id}, which the file does not describe`);
    if (found.link === undefined) throw foreignLink(this.#path, found.linkType);
    if (found.fcs) {
      throw new CaptureFileError(this.#path, 'has frames with their checksums (FCS), which no queue pair sends');
    }
    return found;
  }

  #damaged(what: string): CaptureFileError {
    return new CaptureFileError(this.#path, `is damaged: frame ${this.#count} ${what}`);
  }

  #interface(view: DataView<ArrayBuffer>, body: number, end: number): Interface {
    const { littleEndian } = this.#section;
    if (body + 8 > end) throw new CaptureFileError(this.#path, 'is damaged: an interface without its link type');
    const find = (code: number, size: number) => option(view, body + 8, end, littleEndian, code, size);
    const resolution = find(OPTION_TSRESOL, 1);
    const offset = find(OPTION_TSOFFSET, 8);
    const fcs = find(OPTION_FCSLEN, 1);
    const exponent = resolution < 0 ? 6 : view.getUint8(resolution);
    // The first bit chooses between powers of 2 and of 10.
    const ticksPerSecond = exponent < 0x80 ? 10n ** BigInt(exponent) : 1n << BigInt(exponent & 0x7f);
    const offsetSeconds = offset < 0 ? 0n : view.getBigInt64(offset, littleEndian);
    const whole = offsetSeconds === 0n && NANOS % ticksPerSecond === 0n && NANOS / ticksPerSecond <= MOST_NANOSECONDS;
    const linkType = view.getUint16(body, littleEndian);
    return {
      linkType,
      link: linkOf(linkType, this.#rawIp),
      snapLength: view.getUint32(body + 4, littleEndian) || Infinity,
      ...{ ticksPerSecond, offsetSeconds },
      nanoseconds: whole ? Number(NANOS / ticksPerSecond) : 0,
      fcs: fcs >= 0 && view.getUint8(fcs) > 0,
    };
  }
}

/** The direction that the options of an enhanced packet block tell. */
function direction(
  view: DataView<ArrayBuffer>,
  from: number,
  end: number,
  littleEndian: boolean,
): Direction | undefined {
  const at = option(view, from, end, littleEndian, OPTION_EPB_FLAGS, 4);
  const bits = at < 0 ? 0 : view.getUint32(at, littleEndian) & 3;
  return bits === 1 ? 'received' : bits === 2 ? 'sent' : undefined;
}

/** Where the first option with that code has its value; -1 without one, or if it has another size than `size`. */
function option(
  view: DataView<ArrayBuffer>,
  from: number,
  end: number,
  littleEndian: boolean,
  wanted: number,
  size?: number,
): number {
  for (let at = from; at + 4 <= end;) {
    const code = view.getUint16(at, littleEndian);
    const length = view.getUint16(at + 2, littleEndian);
    if (code === 0 || at + 4 + length > end) return -1;
    if (code === wanted) return size === undefined || size === length ? at + 4 : -1;
    at += 4 + Math.ceil(length / 4) * 4;
  }
  return -1;
}

function comment(view: DataView<ArrayBuffer>, from: number, end: number, littleEndian: boolean): string {
  const at = option(view, from, end, littleEndian, OPTION_COMMENT);
  if (at < 0) return '';
  const length = view.getUint16(at - 2, littleEndian);
  return new TextDecoder().decode(new Uint8Array(view.buffer, view.byteOffset + at, length)).trimEnd();
}
