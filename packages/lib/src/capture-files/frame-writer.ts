import { closeSync, openSync, writeSync } from 'node:fs';
import { ENHANCED_PACKET, INTERFACE, SECTION_HEADER, SIMPLE_PACKET } from './block-types.js';
import { type CapturedFrame, type CaptureFormat, LINK_ETHERNET, MAX_FRAME } from './frame.js';

const BUFFER_BYTES = 1 << 20;
const NANOS = 1_000_000_000n;
const ZEROS = new Uint8Array(4);
const PCAP_NANOSECONDS = 0xa1b23c4d;

/** Writes a capture file: Ethernet frames with times in nanoseconds. */
export class FrameWriter implements Disposable {
  readonly #descriptor: number;
  readonly #format: CaptureFormat;
  readonly #buffer = Buffer.alloc(BUFFER_BYTES);
  #used = 0;

  constructor(path: string, format: CaptureFormat) {
    this.#format = format;
    this.#descriptor = openSync(path, 'w');
    if (format === 'pcap') this.#pcapHeader();
    else this.#pcapngHeader();
  }

  write(frame: CapturedFrame): void {
    this.#room(32 + frame.data.length + 4);
    if (this.#format === 'pcap') this.#record(frame);
    else this.#block(frame);
  }

  /** Writes the buffered frames. Without this call the file is incomplete. */
  finish(): void {
    this.#flush();
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }

  #pcapHeader(): void {
    this.#u32(PCAP_NANOSECONDS);
    this.#u32(2 | (4 << 16));
    this.#u32(0);
    this.#u32(0);
    this.#u32(MAX_FRAME);
    this.#u32(LINK_ETHERNET);
  }

  #record({ data, originalLength, timestamp = 0n }: CapturedFrame): void {
    // There is none before 1970, which a section of pcapng can have.
    const time = timestamp < 0n ? 0n : timestamp;
    this.#u32(Number(BigInt.asUintN(32, time / NANOS)));
    this.#u32(Number(time % NANOS));
    this.#u32(data.length);
    this.#u32(originalLength);
    this.#bytes(data);
  }

  #pcapngHeader(): void {
    this.#u32(SECTION_HEADER);
    this.#u32(28);
    this.#u32(0x1a2b3c4d);
    this.#u32(1);
    // The section's length is unknown yet.
    this.#u32(0xffffffff);
    this.#u32(0xffffffff);
    this.#u32(28);
    this.#u32(INTERFACE);
    this.#u32(32);
    this.#u32(LINK_ETHERNET);
    this.#u32(MAX_FRAME);
    // The option if_tsresol: 10^-9 seconds.
    this.#u32(9 | (1 << 16));
    this.#u32(9);
    this.#u32(0);
    this.#u32(32);
  }

  #block({ data, originalLength, timestamp }: CapturedFrame): void {
    const padding = -data.length & 3;
    // A simple packet block has neither a time nor a captured length.
    const simple = timestamp === undefined && data.length === originalLength;
    const length = (simple ? 16 : 32) + data.length + padding;
    this.#u32(simple ? SIMPLE_PACKET : ENHANCED_PACKET);
    this.#u32(length);
    if (!simple) {
      this.#u32(0);
      this.#u32(Number(BigInt.asUintN(32, (timestamp ?? 0n) >> 32n)));
      this.#u32(Number(BigInt.asUintN(32, timestamp ?? 0n)));
      this.#u32(data.length);
    }
    this.#u32(originalLength);
    this.#bytes(data);
    this.#bytes(ZEROS.subarray(0, padding));
    this.#u32(length);
  }

  #u32(value: number): void {
    this.#used = this.#buffer.writeUInt32LE(value, this.#used);
  }

  #bytes(data: Uint8Array): void {
    this.#buffer.set(data, this.#used);
    this.#used += data.length;
  }

  #room(size: number): void {
    if (this.#used + size > BUFFER_BYTES) this.#flush();
  }

  #flush(): void {
    for (let at = 0; at < this.#used;) at += writeSync(this.#descriptor, this.#buffer, at, this.#used - at);
    this.#used = 0;
  }
}
