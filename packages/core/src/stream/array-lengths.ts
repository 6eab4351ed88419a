import { getHeapStatistics } from 'node:v8';
import { errno } from '../base/errno.js';
import { VerbsError } from '../base/errors.js';

// Of an array V8 allocates all elements when it reads its length, 8 bytes for each: 7 bytes of a message can be an array of 2^25
// holes. An empty Map is 3 bytes of a message, and 200 of the heap. A resizable ArrayBuffer of 8 bytes takes 4 GiB out of the
// addresses of the process. Nothing in V8 limits that, and each ends the process: so it is seen to before V8 reads the message.

/** Elements for each byte of a message. An array without holes has at most one. */
const PER_BYTE = 16;
/** Elements that any message may have. */
const FREE = 1 << 20;

/**
 * Bytes of memory that a value takes beside what it contains, by its tag: measured, and rounded up. The bytes of buffers are not in
 * the heap, and as many as in the message.
 */
const MEMORY: Readonly<Record<string, number>> = {
  ';': 200, // Map
  "'": 180, // Set
  o: 56,
  A: 32,
  a: 32,
  r: 96,
  R: 120,
  D: 96,
  s: 56,
  n: 56,
  z: 56,
  Z: 24,
  N: 16,
  '"': 24,
  c: 24,
  S: 24,
  B: 220,
  '~': 220,
  '\\': 300, // a view, with a buffer of its own
};
/** Of any other tag: what it is the key or the value of has a place for it. */
const PLACE = 16;
const ELEMENT = 8;
/** More than that, and collecting what was there before does not help. */
const MOST_MEMORY = getHeapStatistics().heap_size_limit / 2;

/** A number of 32 bits. */
const NUMBER_BYTES = 5;
const VERSION_TAG = 0xff;
const VIEW_TAG = 'V'.charCodeAt(0);
const FIXED_TAG = 'B'.charCodeAt(0);
const VERSION_WITH_VIEW_FLAGS = 14;

/** What V8 does not know either; a later version might. */
const UNKNOWN = new Error('unknown');

/**
 * Refuses a value in the form of `v8.serialize` whose arrays are out of proportion to its bytes, or that takes more than `memory`
 * bytes. Of its resizable ArrayBuffers it makes ones of their present length, in the message itself.
 *
 * @throws VerbsError EPROTO
 */
export function checkArrayLengths(message: Uint8Array, memory = MOST_MEMORY): void {
  const most = FREE + PER_BYTE * message.byteLength;
  const { elements, bytes } = new Lengths(message).total();
  if (elements > most) {
    throw new VerbsError(errno.EPROTO, 'ibv_poll_cq', {
      text: `the peer sends arrays of ${elements} elements in a message of ${message.byteLength} bytes`,
      hint: `at most ${most} are possible in a message of that size: a Map may have large keys without the elements between them`,
    });
  }
  if (bytes > memory) {
    throw new VerbsError(errno.EPROTO, 'ibv_poll_cq', {
      text: `the peer sends a value that takes about ${inMiB(bytes)} MiB of memory, in a message of ${message.byteLength} bytes`,
      hint: `at most ${inMiB(memory)} MiB are possible, half of the heap (--max-old-space-size): send typed arrays, or parts`,
    });
  }
}

const inMiB = (bytes: number) => Math.ceil(bytes / 2 ** 20);

/** Reads over a value, tag by tag, as `ValueDeserializer` of V8 reads it. */
class Lengths {
  readonly #bytes: Uint8Array;
  #at = 0;
  #version = 0;
  #elements = 0;
  #memory = 0;
  /** The tags that end what has begun. */
  readonly #ends: string[] = [];

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** The lengths of all arrays, and about what the whole takes of the memory, in bytes. */
  total(): { elements: number; bytes: number } {
    try {
      if (this.#byte() !== VERSION_TAG) throw UNKNOWN;
      this.#version = this.#number();
      do {
        if (this.#ends.at(-1) === '.') this.#partOfError();
        else this.#part(this.#tag());
      } while (this.#ends.length !== 0);
    } catch (error) {
      if (error !== UNKNOWN) throw error;
    }
    return { elements: this.#elements, bytes: this.#memory + ELEMENT * this.#elements };
  }

  /** A value, the begin of one that has parts, or its end. */
  #part(first: string): void {
    let tag = first;
    while (tag === '?') {
      // a count of objects in front of a value
      this.#number();
      tag = this.#tag();
    }
    this.#memory += MEMORY[tag] ?? PLACE;
    switch (tag) {
      case '_': // undefined, null, booleans, a hole
      case '0':
      case 'T':
      case 'F':
      case '-':
      case 'x':
      case 'y':
        return;
      case 'I': // integers, and an object that is there already
      case 'U':
      case '^':
        this.#number();
        return;
      case 'N': // doubles and dates
      case 'n':
      case 'D':
        this.#at += 8;
        return;
      case 'Z': // bigints: the sign is below the length
      case 'z':
        this.#digits(this.#number() >>> 1);
        return;
      case '"': // text, in three encodings
      case 'c':
      case 'S':
        this.#digits(this.#number());
        return;
      case 's': // an object of a text
        this.#text();
        return;
      case 'R':
        this.#text();
        this.#number();
        return;
      case 'B':
        this.#skip();
        this.#view();
        return;
      case '~':
        this.#fixed();
        this.#skip();
        this.#view();
        return;
      case '\\': // a view, as Node.js writes it
        this.#number();
        this.#skip();
        return;
      case 'A':
        this.#elements += this.#number();
        this.#ends.push('$');
        return;
      case 'a':
        this.#elements += this.#number();
        this.#ends.push('@');
        return;
      case 'o':
        this.#ends.push('{');
        return;
      case ';':
        this.#ends.push(':');
        return;
      case "'":
        this.#ends.push(',');
        return;
      case 'r':
        this.#ends.push('.');
        return;
      default:
        this.#end(tag);
    }
  }

  #text(): void {
    const tag = this.#tag();
    if (!'"cS'.includes(tag)) throw UNKNOWN;
    this.#part(tag);
  }

  /** Behind it there is the number of properties or elements, of an array both. */
  #end(tag: string): void {
    if (this.#ends.pop() !== tag) throw UNKNOWN;
    this.#number();
    if (tag === '$' || tag === '@') this.#number();
  }

  /** An error's type, message, stack or cause, or its end. */
  #partOfError(): void {
    const tag = String.fromCharCode(this.#byte());
    if (tag === '.') this.#ends.pop();
    else if ('msc'.includes(tag)) this.#part(this.#tag());
    else if (!'ERFSTU'.includes(tag)) throw UNKNOWN;
  }

  /** A view may follow its ArrayBuffer. */
  #view(): void {
    let next = this.#at;
    while (this.#bytes[next] === 0) next++;
    if (this.#bytes[next] !== VIEW_TAG) return;
    this.#at = next + 1;
    if (this.#byte() > 127) throw noValue();
    for (let i = this.#version < VERSION_WITH_VIEW_FLAGS ? 2 : 3; i > 0; i--) this.#number();
  }

  /** Zeros in front of it align what follows. */
  #tag(): string {
    for (;;) {
      const tag = this.#byte();
      if (tag !== 0) return String.fromCharCode(tag);
    }
  }

  #number(): number {
    let value = 0;
    for (let i = 0; i < NUMBER_BYTES; i++) {
      const byte = this.#byte();
      value |= (byte & 127) << (7 * i);
      if (byte < 128) return value >>> 0;
    }
    throw noValue();
  }

  #skip(): void {
    const length = this.#number();
    this.#at += length;
  }

  /** The bytes of a text or a bigint, as many in the heap. */
  #digits(length: number): void {
    this.#at += length;
    this.#memory += length;
  }

  /**
   * A resizable ArrayBuffer becomes one that is not: of its tag, length and largest length there remain a tag and the length, at the
   * end of their place. V8 passes over zeros in front of a tag.
   */
  #fixed(): void {
    const bytes = this.#bytes;
    const from = this.#at - 1;
    this.#number();
    const lengthBytes = this.#at - from - 1;
    this.#number();
    const to = this.#at - lengthBytes;
    bytes.copyWithin(to, from + 1, from + 1 + lengthBytes);
    bytes.fill(0, from, to);
    bytes[to - 1] = FIXED_TAG;
    this.#at = to;
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++];
    if (byte === undefined) throw noValue();
    return byte;
  }
}

const noValue = () =>
  new VerbsError(errno.EPROTO, 'ibv_poll_cq', {
    text: 'the peer sends bytes that are no value: unable to deserialize',
  });
