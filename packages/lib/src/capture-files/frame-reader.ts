import { SECTION_HEADER } from './block-types.js';
import { FileBytes } from './file-bytes.js';
import {
  type CapturedFrame,
  CaptureFileError,
  type CaptureFormat,
  type FrameOptions,
  type FrameRecord,
} from './frame.js';
import type { JournalFields } from './journal.js';
import { isPcap, PcapReader } from './pcap-reader.js';
import { PcapngReader } from './pcapng-reader.js';

/** The magic number of the extended pcap of old Linux kernels, whose records are longer. */
const EXTENDED_PCAP = [0xa1b2cd34, 0x34cdb2a1];
const GZIP = 0x1f8b;

/** Reads a capture file. */
export class FrameReader implements Disposable {
  readonly format: CaptureFormat;
  readonly #bytes: FileBytes;
  readonly #path: string;
  readonly #options: FrameOptions;
  #reader: PcapReader | PcapngReader | undefined;

  /** @throws CaptureFileError for a file of another format; the system's error where it cannot be opened */
  constructor(path: string, options: FrameOptions = {}) {
    this.#path = path;
    this.#options = options;
    this.#bytes = new FileBytes(path);
    try {
      this.format = formatOf(this.#bytes, path);
    } catch (error) {
      this.#bytes[Symbol.dispose]();
      throw error;
    }
  }

  /**
   * The frames in the order of the file.
   *
   * @throws CaptureFileError for a file that is damaged, or has other packets than Ethernet frames and those that the
   *   options allow
   */
  *frames(): Generator<CapturedFrame> {
    for (const { link, direction, bytes, length, timed, nanoseconds } of this.records()) {
      yield {
        ...(link === 'ip' && { link }),
        ...(direction && { direction }),
        ...{ data: bytes, originalLength: length, timestamp: timed ? nanoseconds : undefined },
      };
    }
  }

  /** The same as records, which are all the same object: for captures of millions of frames. */
  *records(): Generator<FrameRecord> {
    const reader = this.#open();
    for (let at = reader.start; reader.read(at);) {
      at = reader.frame.next;
      yield reader.frame;
    }
  }

  /** Reads a frame again, by its position. */
  read(at: number): FrameRecord {
    const reader = this.#open();
    if (!reader.read(at)) throw new CaptureFileError(this.#path, 'became shorter while it was read');
    return reader.frame;
  }

  /** The comments of the sections that were read so far, in pcapng: '' for a section without one. */
  get comments(): readonly string[] {
    return this.#reader instanceof PcapngReader ? this.#reader.comments : [];
  }

  /** Whether the file ends in the middle of a packet, after its frames were read with `cutOff: 'read'`. */
  get cutOff(): boolean {
    return this.#reader?.cutOff ?? false;
  }

  /** Where the last block, or the last record of pcap, ends that was read and is whole. */
  get end(): number {
    return this.#reader?.end ?? 0;
  }

  /** The journal entries that were met so far, in pcapng. */
  get journal(): readonly JournalFields[] {
    return this.#reader instanceof PcapngReader ? this.#reader.journal : [];
  }

  [Symbol.dispose](): void {
    this.#bytes[Symbol.dispose]();
  }

  #open(): PcapReader | PcapngReader {
    const Reader = this.format === 'pcap' ? PcapReader : PcapngReader;
    return (this.#reader ??= new Reader(this.#bytes, this.#path, this.#options));
  }
}

function formatOf(bytes: FileBytes, path: string): CaptureFormat {
  const size = bytes.at(0, 4);
  if (size === 0) throw new CaptureFileError(path, 'is empty');
  const magic = size < 4 ? 0 : bytes.view.getUint32(bytes.offset);
  if (magic === SECTION_HEADER) return 'pcapng';
  if (isPcap(magic)) return 'pcap';
  if (EXTENDED_PCAP.includes(magic)) {
    throw new CaptureFileError(path, 'is an extended pcap file; "editcap -F pcap IN OUT" converts it');
  }
  if (magic >>> 16 === GZIP) throw new CaptureFileError(path, 'is compressed; unpack it first');
  throw new CaptureFileError(path, 'is neither a pcap nor a pcapng file');
}
