// Captures of Ethernet frames, as tcpdump and Wireshark write them: pcap, with times in microseconds or nanoseconds.
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';

/** @typedef {{ nanoseconds: bigint, data: Uint8Array }} Frame */

const HEADER = 24;
const RECORD = 16;
const MICROSECONDS = 0xa1b2c3d4;
const NANOSECONDS = 0xa1b23c4d;
const ETHERNET = 1;
const LONGEST = 65535;

/** @param {string} path @returns {Generator<Frame>} */
export function* readCapture(path) {
  const bytes = readFileSync(path);
  const little = bytes.length >= HEADER && [MICROSECONDS, NANOSECONDS].includes(bytes.readUInt32LE(0));
  const u32 = (/** @type {number} */ at) => (little ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
  if (bytes.length < HEADER || ![MICROSECONDS, NANOSECONDS].includes(u32(0))) {
    throw new Error(`${path} is no pcap file: convert it, for instance by "editcap -F pcap IN OUT"`);
  }
  if (u32(20) !== ETHERNET) throw new Error(`${path} has no Ethernet frames (link type ${u32(20)})`);
  const unit = u32(0) === MICROSECONDS ? 1000n : 1n;
  for (let at = HEADER; at < bytes.length;) {
    const end = at + RECORD + (at + RECORD <= bytes.length ? u32(at + 8) : 0);
    if (at + RECORD > bytes.length || end > bytes.length) throw new Error(`${path} is cut off at byte ${at}`);
    yield {
      nanoseconds: BigInt(u32(at)) * 1_000_000_000n + BigInt(u32(at + 4)) * unit,
      data: bytes.subarray(at + RECORD, end),
    };
    at = end;
  }
}

/** A capture that is written, with times in nanoseconds. */
export class CaptureWriter {
  #file;

  /** @param {string} path */
  constructor(path) {
    this.#file = openSync(path, 'w');
    const header = Buffer.alloc(HEADER);
    header.writeUInt32LE(NANOSECONDS, 0);
    header.writeUInt16LE(2, 4);
    header.writeUInt16LE(4, 6);
    header.writeUInt32LE(LONGEST, 16);
    header.writeUInt32LE(ETHERNET, 20);
    this.#write(header);
  }

  /** @param {Frame} frame */
  add({ nanoseconds, data }) {
    const record = Buffer.alloc(RECORD);
    record.writeUInt32LE(Number(nanoseconds / 1_000_000_000n), 0);
    record.writeUInt32LE(Number(nanoseconds % 1_000_000_000n), 4);
    record.writeUInt32LE(data.length, 8);
    record.writeUInt32LE(data.length, 12);
    this.#write(record);
    this.#write(data);
  }

  close() {
    closeSync(this.#file);
  }

  /** @param {Uint8Array} bytes */
  #write(bytes) {
    for (let at = 0; at < bytes.length;) at += writeSync(this.#file, bytes, at);
  }
}
