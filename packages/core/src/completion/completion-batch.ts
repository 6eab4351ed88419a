import { inspect } from 'node:util';
import { markAsUncloneable } from '../base/node-features.js';
import { HIGH } from '../base/numbers.js';
import { COMPLETION, HAS_TAG, ID_IS_NUMBER } from '../base/records.js';
import { kFilled, kRecords } from '../base/symbols.js';
import { integer, rangeError } from '../base/validate.js';
import { type WcFlags, type WcOpcode, WcStatus } from '../enums/index.js';
import { WorkCompletion } from './work-completion.js';

const MAX_COMPLETIONS = 1 << 20;
/** The flags are the upper half of the word that begins with `sl`. */
const NUMBER = ID_IS_NUMBER << 16;
const TAGGED = HAS_TAG << 16;

/**
 * Completions in a typed array, polled by one native call: `cq.pollBatch`. Each call overwrites the former completions.
 * The index of a completion, 0 to `length - 1`, selects it; the fields are those of {@link WorkCompletion}. Reading
 * allocates nothing, except a bigint for a `wrId` that was posted as a bigint.
 *
 * @example
 * const done = new CompletionBatch(64);
 * const free: (bigint | number)[] = []; // the slots that can be posted again
 * const count = cq.pollBatch(done);
 * for (let i = 0; i < count; i++) {
 *   if (!done.ok(i)) throw new Error(wcStatusText(done.status(i)));
 *   free.push(done.wrId(i));
 * }
 */
export class CompletionBatch {
  /** The largest number of completions that it holds. */
  readonly capacity: number;
  #length = 0;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #words: Uint32Array;

  /**
   * @param capacity completions, 1 to 1048576
   * @throws RangeError
   */
  constructor(capacity = 64) {
    this.capacity = integer(capacity, 'capacity', 1, MAX_COMPLETIONS);
    this.#bytes = new Uint8Array(this.capacity * COMPLETION.BYTES);
    this.#view = new DataView(this.#bytes.buffer);
    this.#words = new Uint32Array(this.#bytes.buffer);
    markAsUncloneable(this);
  }

  /** The number of completions that the last `cq.pollBatch` found. */
  get length(): number {
    return this.#length;
  }

  /**
   * `wr_id`, as it was given to the post call: a number stays a number, a bigint a bigint.
   *
   * @throws RangeError for an index that is not below `length`; the other fields do so, too
   */
  wrId(index: number): bigint | number {
    const at = this.#at(index);
    if ((this.#word(index, COMPLETION.SL) & NUMBER) === 0) return this.#view.getBigUint64(at, true);
    return this.#word(index, COMPLETION.WR_ID) + this.#word(index, COMPLETION.WR_ID + 4) * HIGH;
  }

  /** See {@link WcStatus}. */
  status(index: number): WcStatus {
    return this.#word(index, COMPLETION.STATUS);
  }

  /** Whether the status is SUCCESS. */
  ok(index: number): boolean {
    return this.status(index) === WcStatus.SUCCESS;
  }

  /** See {@link WcOpcode}. */
  opcode(index: number): WcOpcode {
    return this.#word(index, COMPLETION.OPCODE);
  }

  /** The vendor's error code of a failure; 0 of a success. */
  vendorErr(index: number): number {
    return this.ok(index) ? 0 : this.#word(index, COMPLETION.VENDOR_ERR);
  }

  /** The tag of the flow that brought the packet, of a queue created with WcExFlags.FLOW_TAG; else 0. */
  flowTag(index: number): number {
    if (!this.ok(index) || (this.#word(index, COMPLETION.SL) & TAGGED) !== 0) return 0;
    return this.#word(index, COMPLETION.VENDOR_ERR);
  }

  /** Bytes received or read. A UD receive counts the 40 bytes in front of the payload. */
  byteLen(index: number): number {
    return this.#word(index, COMPLETION.BYTE_LEN);
  }

  /** If `wcFlags` has WITH_IMM: the peer's 32 bits. */
  immData(index: number): number {
    return this.#word(index, COMPLETION.IMM_DATA);
  }

  /** If `wcFlags` has WITH_INV: the rkey that the peer invalidated. */
  invalidatedRkey(index: number): number {
    return this.immData(index);
  }

  /** The queue pair that the request was posted to. */
  qpNum(index: number): number {
    return this.#word(index, COMPLETION.QP_NUM);
  }

  /** UD: the sender's queue pair. */
  srcQp(index: number): number {
    if ((this.#word(index, COMPLETION.SL) & TAGGED) !== 0) return 0;
    return this.#word(index, COMPLETION.SRC_QP);
  }

  /** See {@link WcFlags}. */
  wcFlags(index: number): WcFlags {
    return this.#word(index, COMPLETION.WC_FLAGS);
  }

  /** The whole completion, as `cq.poll` returns it: with the rarer fields, and for `pd.createAhFromWc`. Allocates. */
  at(index: number): WorkCompletion {
    return new WorkCompletion(this.#view, this.#at(index), true);
  }

  #word(index: number, field: number): number {
    return this.#words[(this.#at(index) + field) >> 2] ?? 0;
  }

  #at(index: number): number {
    if (typeof index !== 'number' || index >>> 0 !== index || index >= this.#length) throw this.#noSuch(index);
    return index * COMPLETION.BYTES;
  }

  // A function of its own, so that the calls for every completion stay small enough to be inlined.
  #noSuch(index: unknown): RangeError {
    return rangeError('index', `that of one of the ${this.#length} completions, counted from 0`, index);
  }

  /** @internal The records. */
  get [kRecords](): Uint8Array {
    return this.#bytes;
  }

  /** @internal */
  [kFilled](length: number): void {
    this.#length = length;
  }

  /** Its size, for `util.inspect` and `console.log`. */
  [inspect.custom](): string {
    if (!(#length in this)) return inspect(this, { customInspect: false });
    return `CompletionBatch { capacity: ${this.capacity}, length: ${this.#length} }`;
  }
}
