import type { FrameRecord } from '@verbs/lib/capture-files';
import { Column } from './column.js';

const WORD = 2 ** 32;

/**
 * Where the frames of a capture are in its file, in the order of their times. The captures of several processes follow each
 * other in a file: what is in order already is kept as a run, and the runs are merged.
 */
export class TimeOrder {
  readonly #positions = new Column();
  readonly #high = new Column();
  readonly #low = new Column();
  /** The frames from which on positions have one bit more to carry. */
  readonly #turns: number[] = [];
  /** Where each run begins. */
  readonly #runs: number[] = [];
  #count = 0;
  #last = { high: 0, low: 0 };

  get count(): number {
    return this.#count;
  }

  /** Adds the next frame of the file. */
  add({ at, high, low }: FrameRecord): void {
    const last = this.#last;
    const index = this.#count;
    if (index === 0 || high < last.high || (high === last.high && low < last.low)) this.#runs.push(index);
    last.high = high;
    last.low = low;
    while (at >= (this.#turns.length + 1) * WORD) this.#turns.push(index);
    this.#positions.set(index, at % WORD);
    // So that times before 1970 are the smaller ones, as words without a sign.
    this.#high.set(index, high + WORD / 2);
    this.#low.set(index, low);
    this.#count += 1;
  }

  /** The positions. Frames of the same time stay in the order of the file. */
  *positions(): Generator<number> {
    const heads = Uint32Array.from(this.#runs);
    const ends = Uint32Array.from([...this.#runs.slice(1), this.#count]);
    const first = (a: number, b: number) => this.#compare(heads[a] ?? 0, heads[b] ?? 0) < 0;
    // A heap of runs, by their next frames.
    const heap = Uint32Array.from(heads.keys());
    let size = heap.length;
    for (let at = size >> 1; at >= 0; at -= 1) sink(heap, size, at, first);
    while (size > 0) {
      const run = heap[0] ?? 0;
      const index = heads[run] ?? 0;
      yield this.#position(index);
      heads[run] = index + 1;
      if (index + 1 === ends[run]) heap[0] = heap[--size] ?? 0;
      if (size > 1) sink(heap, size, 0, first);
    }
  }

  #position(index: number): number {
    let turns = this.#turns.length;
    while (turns > 0 && index < (this.#turns[turns - 1] ?? 0)) turns -= 1;
    return turns * WORD + this.#positions.get(index);
  }

  #compare(a: number, b: number): number {
    return this.#high.get(a) - this.#high.get(b) || this.#low.get(a) - this.#low.get(b) || a - b;
  }
}

/** Moves a member of a heap down to its place. */
function sink(heap: Uint32Array, size: number, from: number, first: (a: number, b: number) => boolean): void {
  const moved = heap[from] ?? 0;
  let at = from;
  for (let child; (child = at * 2 + 1) < size; at = child) {
    if (child + 1 < size && first(heap[child + 1] ?? 0, heap[child] ?? 0)) child += 1;
    if (!first(heap[child] ?? 0, moved)) break;
    heap[at] = heap[child] ?? 0;
  }
  heap[at] = moved;
}
