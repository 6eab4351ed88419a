import { inspect } from 'node:util';
import { markAsUncloneable } from '../base/node-features.js';
import { HIGH } from '../base/numbers.js';
import { COMPLETION, ID_IS_NUMBER } from '../base/records.js';
import { kFilled, kRecords } from '../base/symbols.js';
import { integer, rangeError } from '../base/validate.js';
import { WcStatus } from '../enums/index.js';
import { WorkCompletion } from './work-completion.js';

const MAX_COMPLETIONS = 1 << 20;
/** The flags are the upper half of the word that begins with `sl`. */
const NUMBER = ID_IS_NUMBER << 16;

/**
 * Completions in a typed array, reaped by one native call: `cq.pollBatch`. Each call overwrites those before. The fields
 * are read by the number of the completion, 0 to `length - 1`, and have the meaning that they have in
 * {@link WorkCompletion}. Nothing is allocated but the bigints of a `wrId` that was given as one.
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
  /** The most that it holds. */
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

  /** How many the last `cq.pollBatch` found. */
  get length(): number {
    return this.#length;
  }

  /**
   * `wr_id`, as it was given to the post call: a number stays a number, a bigint a bigint.
   *
   * @throws RangeError for an index that is not below `length`, as all of these calls
   */
  wrId(index: number): bigint | number {
    const at = this.#at(index);
    if ((this.#word(index, COMPLETION.SL) & NUMBER) === 0) return this.#view.getBigUint64(at, true);
    return this.#word(index, COMPLETION.WR_ID) + this.#word(index, COMPLETION.WR_ID + 4) * HIGH;
  }

  /** See {@link WcStatus}. */
  status(index: number): number {
    return this.#word(index, COMPLETION.STATUS);
  }

  /** Whether the status is SUCCESS. */
  ok(index: number): boolean {
    return this.status(index) === WcStatus.SUCCESS;
  }

  /** See {@link WcOpcode}. */
  opcode(index: number): number {
    return this.#word(index, COMPLETION.OPCODE);
  }

  /** What the device says about a failure; 0 of a success. */
  vendorErr(index: number): number {
    return this.ok(index) ? 0 : this.#word(index, COMPLETION.VENDOR_ERR);
  }

  /** The tag of the flow that brought the packet, of a queue made with WcExFlags.FLOW_TAG; else 0. */
  flowTag(index: number): number {
    return this.ok(index) ? this.#word(index, COMPLETION.VENDOR_ERR) : 0;
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
    return this.#word(index, COMPLETION.SRC_QP);
  }

  /** See {@link WcFlags}. */
  wcFlags(index: number): number {
    return this.#word(index, COMPLETION.WC_FLAGS);
  }

  /** All of one, as `cq.poll` gives it: the rarer fields too, and for `pd.createAhFromWc`. Allocates. */
  at(index: number): WorkCompletion {
    return new WorkCompletion(this.#view, this.#at(index), true);
  }

  #word(index: number, field: number): number {
    return this.#words[(this.#at(index) + field) >> 2] ?? 0;
  }

  #at(index: number): number {
    if (index >>> 0 !== index || index >= this.#length) throw this.#noSuch(index);
    return index * COMPLETION.BYTES;
  }

  // Apart, so that what is called for every completion stays small enough to be inlined.
  #noSuch(index: unknown): RangeError {
    return rangeError('index', `that of one of the ${this.#length} completions, counted from 0`, index);
  }

  /** @internal Where they are written. */
  get [kRecords](): Uint8Array {
    return this.#bytes;
  }

  /** @internal */
  [kFilled](length: number): void {
    this.#length = length;
  }

  /** What `util.inspect` and `console.log` show: its size. */
  [inspect.custom](): string {
    if (!(#length in this)) return inspect(this, { customInspect: false });
    return `CompletionBatch { capacity: ${this.capacity}, length: ${this.#length} }`;
  }
}
