import { native, type NativeHandle } from '../base/native.js';
import { COMPLETION } from '../base/records.js';
import type { AwaitedRequests } from './awaited-requests.js';
import { failuresObserved, noticeRecord, pollRecords } from './completion-failures.js';
import { WorkCompletion } from './work-completion.js';

const CHUNK = 64;
/** So many are sorted before other callbacks of the loop get their turn. */
const CHUNKS_PER_TURN = 16;

// Nothing of the user's runs between a poll and the sorting, so one buffer serves all queues.
const found = new Uint8Array(CHUNK * COMPLETION.BYTES);
const foundView = new DataView(found.buffer);

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
  fill(cq: NativeHandle, timestamps: boolean): number {
    if (this.count !== 0) return this.count;
    const bytes = (this.#bytes ??= this.#grow());
    const count = pollRecords(cq, bytes, CHUNK, timestamps);
    this.#from = 0;
    this.#to = Math.max(count, 0);
    return count;
  }

  /**
   * Polls what is in the queue, a bounded number: what `awaited` asks for goes there, the rest stays here. Gives a
   * negative errno if the queue is broken and had nothing more.
   */
  sort(cq: NativeHandle, awaited: AwaitedRequests, timestamps: boolean): number {
    for (let chunk = 0; chunk < CHUNKS_PER_TURN; chunk++) {
      const count = native.poll(cq, found, CHUNK);
      if (count < 0) return chunk === 0 ? count : 0;
      const observed = count !== 0 && failuresObserved();
      for (let i = 0; i < count; i++) {
        const at = i * COMPLETION.BYTES;
        if (awaited.settle(foundView, at, timestamps)) continue;
        if (observed) noticeRecord(foundView, at, timestamps);
        this.#keep(found.subarray(at, at + COMPLETION.BYTES));
      }
      if (count < CHUNK) break;
    }
    return 0;
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

  #keep(record: Uint8Array): void {
    let bytes = (this.#bytes ??= this.#grow());
    if (this.#to * COMPLETION.BYTES === bytes.byteLength) bytes = this.#bytes = this.#grow();
    bytes.set(record, this.#to++ * COMPLETION.BYTES);
  }

  /** Room for as many again as are kept, which move to its start. */
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
