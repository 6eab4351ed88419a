import { native, type NativeHandle } from './native.js';
import { COMPLETION } from './records.js';
import { WorkCompletion } from './work-completion.js';

const CHUNK = 64;

/** Completions that were reaped while somebody waited, and are not handed out yet. */
export class ReapedCompletions {
  #bytes: Uint8Array | undefined;
  #view: DataView | undefined;
  #from = 0;
  #to = 0;

  get count(): number {
    return this.#to - this.#from;
  }

  /** Polls the queue if none are left. Gives their number or a negative errno. */
  fill(cq: NativeHandle): number {
    if (this.count !== 0) return this.count;
    this.#bytes ??= new Uint8Array(CHUNK * COMPLETION.BYTES);
    this.#view ??= new DataView(this.#bytes.buffer);
    const found = native.poll(cq, this.#bytes, CHUNK);
    this.#from = 0;
    this.#to = Math.max(found, 0);
    return found;
  }

  /** The oldest. There must be one. */
  next(timestamps: boolean): WorkCompletion {
    if (this.#view === undefined || this.count === 0) throw new Error('nothing was reaped');
    return new WorkCompletion(this.#view, this.#from++ * COMPLETION.BYTES, timestamps);
  }

  /** The oldest up to `max` as records. Gives their number. */
  moveTo(target: Uint8Array, max: number): number {
    const count = Math.min(max, this.count);
    if (count === 0 || this.#bytes === undefined) return 0;
    const from = this.#from * COMPLETION.BYTES;
    target.set(this.#bytes.subarray(from, from + count * COMPLETION.BYTES));
    this.#from += count;
    return count;
  }
}
