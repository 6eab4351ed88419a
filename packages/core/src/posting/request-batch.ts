import { inspect } from 'node:util';
import { markAsUncloneable } from '../base/node-features.js';
import { U32 } from '../base/numbers.js';
import { HEADER, SGE, WRITTEN } from '../base/records.js';
import { kSelect } from '../base/symbols.js';
import { integer, object, optional, rangeError, typeError, valueError } from '../base/validate.js';
import { type RecordSpace } from './request-records.js';
import { RequestSlots } from './request-slots.js';

const MAX_REQUESTS = 1 << 20;
const MAX_SGE = 1 << 10;

/** The size of a {@link SendBatch} or {@link RecvBatch}. */
export interface BatchOptions {
  /** Elements that a request may have, default 1. */
  maxSge?: number;
}

/** The layout of a request in a kind of batch. */
interface Layout {
  kind: string;
  recordBytes: number;
  flagsAt: number;
  numSgeAt: number;
}

/**
 * Work requests in one typed array, each in a slot of its own: written once, changed field by field, posted as often as
 * wanted by one native call. Nothing but `set` allocates. The base of {@link SendBatch} and {@link RecvBatch}.
 *
 * A batch belongs to no queue: it may be posted to any of the device that its memory regions are of. It keeps these
 * from being collected, but not from being closed.
 */
export abstract class RequestBatch {
  /** Slots. */
  readonly capacity: number;
  /** Elements that a request may have. */
  readonly maxSge: number;
  /** @internal */
  protected readonly slots: RequestSlots;
  readonly #layout: Layout;
  #writing = false;

  /** @internal */
  constructor(capacity: number, options: BatchOptions, layout: Layout) {
    this.capacity = integer(capacity, 'capacity', 1, MAX_REQUESTS);
    this.maxSge = optional(object(options, 'options', ['maxSge'])['maxSge'], 'options.maxSge', MAX_SGE, 1);
    this.slots = new RequestSlots(this.capacity, layout.recordBytes, this.maxSge);
    this.#layout = layout;
    markAsUncloneable(this);
  }

  /**
   * Another part of its memory region for an element of the request in that slot. Whether it lies in the region is
   * checked when it is posted.
   *
   * @param element which one, from 0
   * @param offset bytes from the region's start
   * @param length bytes
   * @throws TypeError, RangeError (no such slot, nothing in it, no such element)
   * @example sends.setSge(3, 0, 4096, 64); // the first element of the request in slot 3
   */
  setSge(index: number, element: number, offset: number, length: number): void {
    const { numSgeAt, recordBytes } = this.#layout;
    const request = this.requestAt(index);
    const count = this.slots.u32(request + numSgeAt);
    if (!(element >= 0 && element < count) || !Number.isInteger(element))
      throw rangeError('element', `one of the request's ${count} elements, counted from 0`, element);
    integer(offset, 'offset', 0, Number.MAX_SAFE_INTEGER);
    integer(length, 'length', 0, U32);
    const at = request + recordBytes + element * SGE.BYTES;
    this.slots.putU64(at + SGE.OFFSET, offset);
    this.slots.putU32(at + SGE.LENGTH, length);
  }

  /** @internal Writes the request of a slot: all of it, or the slot holds none. */
  protected rewrite(index: number, write: (space: RecordSpace) => void): void {
    const flags = this.slots.place(index) + this.#layout.flagsAt;
    if (this.#writing) throw valueError('wr', 'has a getter that writes into the same batch');
    this.slots.begin(index);
    this.#writing = true;
    let done = false;
    try {
      write(this.slots);
      done = true;
    } finally {
      this.#writing = false;
      if (!done) this.slots.putU32(flags, 0);
    }
  }

  /** @internal Where the request of a slot is. */
  protected requestAt(index: number): number {
    const at = this.slots.place(index);
    if ((this.slots.u32(at + this.#layout.flagsAt) & WRITTEN) === 0) throw nothingIn(index);
    return at;
  }

  /** @internal For the post call: its bytes, which say that the requests from `first` on are meant. */
  [kSelect](kind: string, first: number, count: number | undefined): Uint8Array {
    if (kind !== this.#layout.kind) throw typeError('batch', `a ${kind}`, this);
    integer(first, 'first', 0, this.capacity);
    if (count !== undefined) integer(count, 'count', 0, this.capacity - first);
    this.slots.putU32(HEADER.FIRST, first);
    return this.slots.bytes;
  }

  /** Its size, for `util.inspect` and `console.log`. */
  [inspect.custom](): string {
    if (!(#layout in this)) return inspect(this, { customInspect: false });
    return `${this.#layout.kind} { capacity: ${this.capacity}, maxSge: ${this.maxSge} }`;
  }
}

function nothingIn(index: number): TypeError {
  return valueError('index', `is ${index}, a slot that holds no request: write one by set() first`);
}
