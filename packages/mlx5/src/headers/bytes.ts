import { copyOf } from '../base/bytes.js';

/** Writes numbers in network order, one behind the other. */
export class ByteWriter {
  readonly bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(size: number) {
    this.bytes = new Uint8Array(size);
    this.#view = new DataView(this.bytes.buffer);
  }

  u8(value: number): this {
    this.#view.setUint8(this.#at, value);
    this.#at += 1;
    return this;
  }

  u16(value: number): this {
    this.#view.setUint16(this.#at, value);
    this.#at += 2;
    return this;
  }

  u24(value: number): this {
    return this.u16(value >>> 8).u8(value & 0xff);
  }

  u32(value: number): this {
    this.#view.setUint32(this.#at, value);
    this.#at += 4;
    return this;
  }

  put(bytes: Uint8Array): this {
    this.bytes.set(bytes, this.#at);
    this.#at += bytes.length;
    return this;
  }
}

/** The bytes end within a header. */
export class Truncated extends Error {}

/** Reads numbers in network order, one behind the other. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#at = at;
  }

  get at(): number {
    return this.#at;
  }

  u8(): number {
    return this.#view.getUint8(this.#advance(1));
  }

  u16(): number {
    return this.#view.getUint16(this.#advance(2));
  }

  u24(): number {
    return this.u16() * 256 + this.u8();
  }

  u32(): number {
    return this.#view.getUint32(this.#advance(4));
  }

  /** A copy of the next bytes. */
  take(size: number): Uint8Array {
    const at = this.#advance(size);
    return copyOf(this.#bytes.subarray(at, at + size));
  }

  /** The next byte, which stays the next; undefined at the end. */
  peek(): number | undefined {
    return this.#bytes[this.#at];
  }

  #advance(size: number): number {
    const at = this.#at;
    if (at + size > this.#bytes.length) throw new Truncated();
    this.#at = at + size;
    return at;
  }
}
