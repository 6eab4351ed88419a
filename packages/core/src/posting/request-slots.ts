import { HIGH } from '../base/numbers.js';
import { HEADER, SGE } from '../base/records.js';
import { rangeError, valueError } from '../base/validate.js';
import type { Resource } from '../lifetime/resource.js';
import { type RecordSpace } from './request-records.js';

/** Of one batch; beyond it a program has mistaken a number. */
const MOST_BYTES = 2 ** 29;

/** Records of work requests, each in a slot of the same size with its elements behind it. */
export class RequestSlots implements RecordSpace {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  /** The same bytes as words, for single fields: the fastest access that JavaScript engines have. */
  readonly #words: Uint32Array;
  readonly #capacity: number;
  readonly #maxSge: number;
  readonly #slotBytes: number;
  /** The objects that each slot's request uses: an address handle, if it has one, and the elements' regions. */
  readonly #held: (Resource | undefined)[];
  // Where take() and hold() go on.
  #next = 0;
  #end = 0;
  #nextHeld = 0;

  constructor(capacity: number, recordBytes: number, maxSge: number) {
    this.#capacity = capacity;
    this.#maxSge = maxSge;
    this.#slotBytes = recordBytes + maxSge * SGE.BYTES;
    if (capacity * this.#slotBytes > MOST_BYTES) {
      const most = Math.floor((MOST_BYTES / capacity - recordBytes) / SGE.BYTES);
      throw rangeError('options.maxSge', `at most ${most} in a batch of ${capacity} requests`, maxSge);
    }
    this.bytes = new Uint8Array(HEADER.BYTES + capacity * this.#slotBytes);
    this.view = new DataView(this.bytes.buffer);
    this.#words = new Uint32Array(this.bytes.buffer);
    this.view.setUint32(HEADER.SLOT, this.#slotBytes, true);
    this.#held = new Array<Resource | undefined>(capacity * (maxSge + 1)).fill(undefined);
  }

  /** Where the slot begins. */
  place(index: number): number {
    if (typeof index !== 'number' || index >>> 0 !== index || index >= this.#capacity) throw this.#noSuch(index);
    return HEADER.BYTES + index * this.#slotBytes;
  }

  // A function of its own, so that the calls for every request stay small enough to be inlined.
  #noSuch(index: unknown): RangeError {
    return rangeError('index', `a slot from 0 to ${this.#capacity - 1}`, index);
  }

  /** Releases the objects of the slot's request, and begins a new request there. */
  begin(index: number): void {
    this.#next = this.place(index);
    this.#end = this.#next + this.#slotBytes;
    this.#nextHeld = index * (this.#maxSge + 1);
    this.#held.fill(undefined, this.#nextHeld, this.#nextHeld + this.#maxSge + 1);
  }

  /** The next hold() is that of the request's address handle. */
  beginAddress(index: number): void {
    this.#nextHeld = index * (this.#maxSge + 1);
  }

  u32(at: number): number {
    return this.#words[at >> 2] ?? 0;
  }

  putU32(at: number, value: number): void {
    this.#words[at >> 2] = value;
  }

  putU64(at: number, value: bigint | number): void {
    if (typeof value === 'bigint') {
      this.view.setBigUint64(at, value, true);
    } else {
      // A store takes the value modulo 2^32.
      this.#words[at >> 2] = value;
      this.#words[(at >> 2) + 1] = value / HIGH;
    }
  }

  take(bytes: number): number {
    const at = this.#next;
    if (at + bytes > this.#end)
      throw valueError('wr.sgList', `has more elements than the batch was made for: its maxSge is ${this.#maxSge}`);
    this.#next += bytes;
    return at;
  }

  hold(object: Resource): void {
    this.#held[this.#nextHeld++] = object;
  }
}
