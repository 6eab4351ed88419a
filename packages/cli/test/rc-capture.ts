import { closeSync, openSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';

/** Numbers of opcodes. */
export const SEND_ONLY = 0x04;
export const WRITE_ONLY = 0x0a;
export const READ_REQUEST = 0x0c;
export const ACKNOWLEDGE = 0x11;

export interface RcPacket {
  direction: 'sent' | 'received' | undefined;
  /** Nanoseconds since 1970. */
  time: bigint;
  from: string;
  to: string;
  opcode: number;
  destQpn: number;
  psn: number;
  /** Of an acknowledgement. */
  aeth?: { syndrome: number; msn: number };
  /** Bytes of data. */
  payload?: number;
  /** Changes a bit on the way: of the destination queue pair, or of the data. */
  damaged?: 'number' | 'data';
}

const IP = 20;
const BTH = 28;

/** A pcapng file with IP packets and times in nanoseconds, in one or more sections. */
export class RcCapture implements Disposable {
  readonly #descriptor: number;
  #pieces: Buffer[] = [];
  #pending = 0;
  size = 0;
  packets = 0;

  /** @param offset - seconds that the times of the first section count from */
  constructor(path: string, offset?: bigint) {
    this.#descriptor = openSync(path, 'w');
    this.section(offset);
  }

  /** A new section, as of another process. */
  section(offset = 0n): void {
    this.#put(words(0x0a0d0d0a, 28, 0x1a2b3c4d, 1, 0xffffffff, 0xffffffff, 28));
    // Raw IP; if_tsresol: 10^-9 seconds; if_tsoffset.
    const from = [Number(offset & 0xffff_ffffn), Number((offset >> 32n) & 0xffff_ffffn)];
    this.#put(words(1, 44, 101, 0, 9 | (1 << 16), 9, 14 | (8 << 16), ...from, 0, 44));
  }

  add(packet: RcPacket): void {
    this.frame(bytesOf(packet), packet);
  }

  /** Any IP packet. */
  frame(data: Uint8Array, { time, direction }: Pick<RcPacket, 'time' | 'direction'>): void {
    const padding = -data.length & 3;
    const length = 32 + data.length + padding + 12;
    const flags = direction === undefined ? 0 : direction === 'sent' ? 2 : 1;
    this.#put(words(6, length, 0, Number(time >> 32n), Number(time & 0xffff_ffffn), data.length, data.length));
    this.#put(Buffer.concat([data, Buffer.alloc(padding), words(2 | (4 << 16), flags, 0, length)]));
    this.packets += 1;
  }

  [Symbol.dispose](): void {
    this.#flush();
    closeSync(this.#descriptor);
  }

  #put(bytes: Buffer): void {
    this.#pieces.push(bytes);
    this.#pending += bytes.length;
    this.size += bytes.length;
    if (this.#pending > 1 << 20) this.#flush();
  }

  #flush(): void {
    writeSync(this.#descriptor, Buffer.concat(this.#pieces));
    this.#pieces = [];
    this.#pending = 0;
  }
}

function words(...values: number[]): Buffer {
  const buffer = Buffer.allocUnsafe(values.length * 4);
  for (const [i, value] of values.entries()) buffer.writeUInt32LE(value >>> 0, i * 4);
  return buffer;
}

/** An IPv4 packet, with the right checksum if it is not `damaged`. */
export function bytesOf({ from, to, opcode, destQpn, psn, aeth, payload = 0, damaged }: RcPacket): Buffer {
  const extension = aeth === undefined ? (opcode === WRITE_ONLY || opcode === READ_REQUEST ? 16 : 0) : 4;
  const length = BTH + 12 + extension + payload + 4;
  const bytes = Buffer.alloc(length);
  bytes.writeUInt32BE(0x4500_0000 + length, 0);
  bytes.writeUInt32BE(0x0000_4000, 4);
  bytes.writeUInt32BE(0x4011_0000, 8);
  bytes.set([...from.split('.'), ...to.split('.')].map(Number), 12);
  bytes.writeUInt32BE(0xc000_12b7, IP);
  bytes.writeUInt32BE((length - IP) << 16, IP + 4);
  bytes.writeUInt32BE(opcode * 2 ** 24 + 0xffff, BTH);
  bytes.writeUInt32BE(destQpn, BTH + 4);
  bytes.writeUInt32BE((0x8000_0000 | psn) >>> 0, BTH + 8);
  if (aeth !== undefined) bytes.writeUInt32BE((aeth.syndrome * 2 ** 24 + aeth.msn) >>> 0, BTH + 12);
  else if (extension > 0) bytes.writeUInt32BE(payload, BTH + 24);
  bytes.fill(0xaa, BTH + 12 + extension, length - 4);
  bytes.writeUInt32LE(invariantCrc(bytes), length - 4);
  if (damaged === 'number') bytes[BTH + 7] = (bytes[BTH + 7] ?? 0) ^ 0x40;
  if (damaged === 'data') bytes[length - 5] = (bytes[length - 5] ?? 0) ^ 1;
  return bytes;
}

/** The invariant CRC of a packet, whose last four bytes are for it. */
export function invariantCrc(bytes: Buffer): number {
  const masked = Buffer.concat([Buffer.alloc(8, 0xff), bytes.subarray(0, -4)]);
  for (const at of [1, 8, 10, 11, 26, 27, 32]) masked[at + 8] = 0xff;
  return crc32(masked);
}
