import { native, type NativeHandle } from '../base/native.js';
import { COMPLETION } from '../base/records.js';
import { WorkCompletion } from './work-completion.js';

const CHUNK = 64;

/** Completions that were polled before the program asked for them: records, oldest first. */
export class PolledCompletions {
  #bytes: Uint8Array | undefined;
  #view: DataView | undefined;
  #from = 0;
  #to = 0;

  get count(): number {
    return this.#to - this.#from;
  }

  /** The record at the start of the store: that of the oldest completion after `fill`. */
  get view(): DataView | undefined {
    return this.#view;
  }

  /** Polls into the store, which must be empty. Returns the number of completions or a negative errno. */
  fill(cq: NativeHandle): number {
    const bytes = (this.#bytes ??= this.#grow());
    const count = native.poll(cq, bytes, CHUNK);
    this.#from = 0;
    this.#to = Math.max(count, 0);
    return count;
  }

  /** Stores a copy of one record. */
  add(record: Uint8Array): void {
    let bytes = (this.#bytes ??= this.#grow());
    if (this.#to * COMPLETION.BYTES === bytes.byteLength) bytes = this.#bytes = this.#grow();
    bytes.set(record, this.#to++ * COMPLETION.BYTES);
  }

  /** Removes the oldest. There must be one. */
  next(timestamps: boolean): WorkCompletion {
    if (this.#view === undefined || this.count === 0) throw new Error('no completion is stored');
    return new WorkCompletion(this.#view, this.#from++ * COMPLETION.BYTES, timestamps);
  }

  /** Moves the oldest, up to `max`, to `target` as records. Returns their number. */
  moveTo(target: Uint8Array, max: number): number {
    const count = Math.min(max, this.count);
    if (count === 0 || this.#bytes === undefined) return 0;
    const from = this.#from * COMPLETION.BYTES;
    target.set(this.#bytes.subarray(from, from + count * COMPLETION.BYTES));
    this.#from += count;
    return count;
  }

  /** A buffer for twice the stored records, which move to its start. */
  #grow(): Uint8Array {
    const kept = this.#bytes?.subarray(this.#from * COMPLETION.BYTES, this.#to * COMPLETION.BYTES);
    const bytes = new Uint8Array(Math.max(CHUNK, 2 * this.count) * COMPLETION.BYTES);
    if (kept !== undefined) bytes.set(kept);
    this.#view = new DataView(bytes.buffer);
    this.#to = this.count;
    this.#from = 0;
    return bytes;
  }
}
