import { errno } from '../base/errno.js';
import { VerbsError } from '../base/errors.js';

// Of an array V8 allocates all elements when it reads its length, 8 bytes for each: 7 bytes of a message can be an array of 2^25
// holes. Nothing in V8 limits that, so the lengths are added up before it reads the message.

/** Elements for each byte of a message. An array without holes has at most one. */
const PER_BYTE = 16;
/** Elements that any message may have. */
const FREE = 1 << 20;

/** A number of 32 bits. */
const NUMBER_BYTES = 5;
const VERSION_TAG = 0xff;
const VIEW_TAG = 'V'.charCodeAt(0);
const VERSION_WITH_VIEW_FLAGS = 14;

/** What V8 does not know either; a later version might. */
const UNKNOWN = new Error('unknown');

/**
 * Refuses a value in the form of `v8.serialize` whose arrays are out of proportion to its bytes.
 *
 * @throws VerbsError EPROTO
 */
export function checkArrayLengths(message: Uint8Array): void {
  const most = FREE + PER_BYTE * message.byteLength;
  const total = new Lengths(message).total();
  if (total <= most) return;
  throw new VerbsError(errno.EPROTO, 'ibv_poll_cq', {
    text: `the peer sends arrays of ${total} elements in a message of ${message.byteLength} bytes`,
    hint: `at most ${most} are possible in a message of that size: a Map may have large keys without the elements between them`,
  });
}

/** Reads over a value, tag by tag, as `ValueDeserializer` of V8 reads it. */
class Lengths {
  readonly #bytes: Uint8Array;
  #at = 0;
  #version = 0;
  #total = 0;
  /** The tags that end what has begun. */
  readonly #ends: string[] = [];

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** The sum of the lengths of all arrays. */
  total(): number {
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
    return this.#total;
  }

  /** A value, the begin of one that has parts, or its end. */
  #part(tag: string): void {
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
        this.#at += this.#number() >>> 1;
        return;
      case '"': // text, in three encodings
      case 'c':
      case 'S':
        this.#skip();
        return;
      case 's':
      case '?':
        if (tag === '?') this.#number();
        this.#part(this.#tag());
        return;
      case 'R':
        this.#part(this.#tag());
        this.#number();
        return;
      case 'B':
        this.#skip();
        this.#view();
        return;
      case '~': {
        const length = this.#number();
        this.#number();
        this.#at += length;
        this.#view();
        return;
      }
      case '\\': // a view, as Node.js writes it
        this.#number();
        this.#skip();
        return;
      case 'A':
        this.#total += this.#number();
        this.#ends.push('$');
        return;
      case 'a':
        this.#total += this.#number();
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
