import { closeSync, openSync } from 'node:fs';
import { SECTION_HEADER } from './block-types.js';
import { FileBytes } from './file-bytes.js';
import { type CapturedFrame, CaptureFileError, type CaptureFormat, type FrameOptions } from './frame.js';
import { isPcap, pcapFrames } from './pcap-reader.js';
import { pcapngFrames } from './pcapng-reader.js';

/** The magic number of the extended pcap of old Linux kernels, whose records are longer. */
const EXTENDED_PCAP = [0xa1b2cd34, 0x34cdb2a1];
const GZIP = 0x1f8b;

/** Reads a capture file once, from beginning to end. */
export class FrameReader implements Disposable {
  readonly format: CaptureFormat;
  readonly #path: string;
  readonly #descriptor: number;
  readonly #bytes: FileBytes;

  /** @throws CaptureFileError for a file of another format; the system's error where it cannot be opened */
  constructor(path: string) {
    this.#path = path;
    this.#descriptor = openSync(path, 'r');
    this.#bytes = new FileBytes(this.#descriptor);
    try {
      this.format = formatOf(this.#bytes, path);
    } catch (error) {
      closeSync(this.#descriptor);
      throw error;
    }
  }

  /**
   * @throws CaptureFileError for a file that is damaged, or has other packets than Ethernet frames and those that the
   *   options allow
   */
  frames(options: FrameOptions = {}): Generator<CapturedFrame> {
    return (this.format === 'pcap' ? pcapFrames : pcapngFrames)(this.#bytes, this.#path, options);
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }
}

function formatOf(bytes: FileBytes, path: string): CaptureFormat {
  const start = bytes.peek(4);
  if (start.byteLength === 0) throw new CaptureFileError(path, 'is empty');
  const magic = start.byteLength < 4 ? 0 : start.getUint32(0);
  if (magic === SECTION_HEADER) return 'pcapng';
  if (isPcap(magic)) return 'pcap';
  if (EXTENDED_PCAP.includes(magic)) {
    throw new CaptureFileError(path, 'is an extended pcap file; "editcap -F pcap IN OUT" converts it');
  }
  if (magic >>> 16 === GZIP) throw new CaptureFileError(path, 'is compressed; unpack it first');
  throw new CaptureFileError(path, 'is neither a pcap nor a pcapng file');
}
