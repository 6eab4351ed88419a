import { crc32 } from 'node:zlib';
import type { Candidate } from './explain.js';
import { opcodeOf } from './opcodes.js';

const BTH_BYTES = 12;
const ICRC_BYTES = 4;
const UDP_BYTES = 8;
/** In place of the local route header, which RoCE v2 does not have. */
const NO_ROUTE_HEADER = 8;
/** From so many bytes on a call into the runtime takes less time than the sum here. */
const LONG = 256;

/** What the CRC-32 makes of a byte that is followed by none, one, two or three others. */
const TABLES = crcTables();

function crcTables(): Uint32Array {
  const tables = new Uint32Array(4 * 256);
  for (let byte = 0; byte < 256; byte += 1) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
    tables[byte] = crc;
  }
  for (let at = 256; at < tables.length; at += 1) {
    const before = tables[at - 256] ?? 0;
    tables[at] = (before >>> 8) ^ (tables[before & 0xff] ?? 0);
  }
  return tables;
}

function addByte(crc: number, byte: number): number {
  return (TABLES[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8);
}

/** Four bytes, the first one lowest. */
function addWord(crc: number, word: number): number {
  const mixed = crc ^ word;
  return (
    (TABLES[768 + (mixed & 0xff)] ?? 0) ^
    (TABLES[512 + ((mixed >>> 8) & 0xff)] ?? 0) ^
    (TABLES[256 + ((mixed >>> 16) & 0xff)] ?? 0) ^
    (TABLES[mixed >>> 24] ?? 0)
  );
}

/** The CRC-32 of bytes of a view; `before` is that of the bytes in front of them. */
export function checksum(view: DataView, from: number, to: number, before = 0): number {
  if (to - from >= LONG) return crc32(new Uint8Array(view.buffer, view.byteOffset + from, to - from), before);
  let crc = ~before;
  let at = from;
  for (; at + 4 <= to; at += 4) crc = addWord(crc, view.getUint32(at, true));
  for (; at < to; at += 1) crc = addByte(crc, view.getUint8(at));
  return ~crc >>> 0;
}

/** The bits of headers that routers change, in words as above: of IPv4 without options and UDP, and of a BTH. */
const CHANGING = Uint32Array.of(0xff00, 0, 0xffff00ff, 0, 0, 0, 0xffff0000);
const PLAIN_BYTES = CHANGING.length * 4;
const CHANGING_OF_BTH = Uint32Array.of(0, 0xff, 0);

/** The checksum up to the end of the BTH. */
function headersChecksum(view: DataView, { network, networkSize, at }: Candidate): number {
  const plain = networkSize === PLAIN_BYTES && view.getUint8(network) === 0x45;
  if (!plain) return maskedHeaders(view, network, networkSize, at);
  let crc = addWord(addWord(-1, -1), -1);
  for (let i = 0; i < CHANGING.length; i += 1) {
    crc = addWord(crc, view.getUint32(network + i * 4, true) | (CHANGING[i] ?? 0));
  }
  for (let i = 0; i < CHANGING_OF_BTH.length; i += 1) {
    crc = addWord(crc, view.getUint32(at + i * 4, true) | (CHANGING_OF_BTH[i] ?? 0));
  }
  return ~crc >>> 0;
}

const MASKED = new DataView(new ArrayBuffer(128));

function maskedHeaders(view: DataView, network: number, networkSize: number, at: number): number {
  const masked = MASKED;
  let length = 0;
  for (; length < NO_ROUTE_HEADER; length += 1) masked.setUint8(length, 0xff);
  const headers = length;
  for (let i = 0; i < networkSize; i += 1) masked.setUint8(length++, view.getUint8(network + i));
  const bth = length;
  for (let i = 0; i < BTH_BYTES; i += 1) masked.setUint8(length++, view.getUint8(at + i));
  const first = view.getUint8(network);
  let ip = 40;
  if (first >> 4 === 4) {
    ip = (first & 0x0f) * 4;
    masked.setUint8(headers + 1, 0xff); // type of service
    masked.setUint8(headers + 8, 0xff); // time to live
    masked.setUint16(headers + 10, 0xffff); // checksum
  } else {
    masked.setUint8(headers, first | 0x0f); // traffic class
    masked.setUint8(headers + 1, 0xff);
    masked.setUint16(headers + 2, 0xffff); // flow label
    masked.setUint8(headers + 7, 0xff); // hop limit
  }
  if (networkSize === ip + UDP_BYTES) masked.setUint16(headers + ip + 6, 0xffff); // checksum
  masked.setUint8(bth + 4, 0xff); // FECN, BECN, reserved
  return checksum(masked, 0, length);
}

/**
 * Whether the invariant CRC of an RDMA packet is right: over the network headers without the fields that routers change,
 * and over everything from the BTH on. Undefined where the capture does not hold the whole packet, which ends at `size`.
 */
export function icrcIsRight(view: DataView, size: number, place: Candidate): boolean | undefined {
  const { at, end } = place;
  if (end > size) return undefined;
  const sum = end - ICRC_BYTES;
  if (at + BTH_BYTES > sum) return false;
  return checksum(view, at + BTH_BYTES, sum, headersChecksum(view, place)) === view.getUint32(sum, true);
}

/**
 * Whether an RDMA packet begins there, directly behind a tunnel header. Devices with encapsulations put arbitrary bytes in
 * front of the BTH: nothing but the checksum tells, or, where the capture holds too little of the packet, what the bytes
 * look like.
 */
export function transportBegins(view: DataView, size: number, place: Candidate): boolean {
  if (!mayBegin(view, size, place)) return false;
  const right = icrcIsRight(view, size, place);
  // A BTH of the default partition. An inner Ethernet header has an address in this place.
  return right ?? view.getUint16(place.at + 2) === 0xffff;
}

/** The same by the checksum alone: where something else is more likely to be there. */
export function transportIsSealed(view: DataView, size: number, place: Candidate): boolean {
  return mayBegin(view, size, place) && icrcIsRight(view, size, place) === true;
}

/** No checksum is taken where no BTH can be: this is asked at many places of foreign packets. */
function mayBegin(view: DataView, size: number, { at }: Candidate): boolean {
  if (at + BTH_BYTES > size || opcodeOf(view.getUint8(at)) === undefined) return false;
  // The transport's version is 0.
  return (view.getUint8(at + 1) & 0x0f) === 0;
}
