import { hash } from './numbering.js';

/** Rows further back than these are no longer found: what a packet belongs to is not that far away. */
export const RECENT = 1 << 18;
/** Rows of one key that are looked at. */
const MOST_STEPS = 64;

/** The latest rows of a table, by a key of two words. It keeps the same amount of memory, and knows the newest ones. */
export class RecentRows {
  /** By hash: the newest row and one. By row: the one before with the same hash, and one. */
  readonly #newest = new Uint32Array(RECENT);
  readonly #before = new Uint32Array(RECENT);

  /** Rows are added in ascending order. */
  add(a: number, b: number, row: number): void {
    const slot = hash(a, b) & (RECENT - 1);
    this.#before[row & (RECENT - 1)] = this.#newest[slot] ?? 0;
    this.#newest[slot] = row + 1;
  }

  /** The newest row of a key that is wanted, seen from the row `now`; -1 if there is none. Keys may share their hash. */
  find(a: number, b: number, now: number, wanted: (row: number) => boolean): number {
    let row = (this.#newest[hash(a, b) & (RECENT - 1)] ?? 0) - 1;
    for (let steps = 0; row >= 0 && row > now - RECENT && steps < MOST_STEPS; steps += 1) {
      if (wanted(row)) return row;
      row = (this.#before[row & (RECENT - 1)] ?? 0) - 1;
    }
    return -1;
  }
}
