import { psnDistance } from './psn.js';

/** More PSNs than these at once are a new connection or a capture with a gap. */
export const MOST_MISSING = 64;
/** What is sent again is not further behind, unless it was seen before: a new connection of the same queue pairs begins there. */
const MOST_BEHIND = 1 << 17;
const LEAST_MTU = 256;
const CIRCLE = 1 << 24;

/** The PSNs of a requester, as places on a line: the circle of 24 bits unrolled. */
export class Requests {
  /** Whether what was sent again, by the last `add()`, had been captured before. */
  firstKnown = false;
  readonly #mtu: number | undefined;
  #first = -1;
  #last = -1;
  /** The place of the next new request; -1 where it is not known. */
  #next = -1;
  /** Where places in front of the next one were skipped: from, to; in ascending order. */
  readonly #gaps: number[] = [];
  /** Places that were skipped, or are in front of the first one, and came later. */
  readonly #late = new Set<number>();

  constructor(mtu: number | undefined) {
    this.#mtu = mtu;
  }

  /**
   * Adds a request; `readLength` is that of a READ in bytes, else 0. Returns how many PSNs were skipped in front of it, 0
   * without a gap or for one that is too long, and -1 for a request that is sent again.
   */
  add(psn: number, readLength: number): number {
    let place = psn + CIRCLE;
    if (this.#first < 0) this.#first = place;
    else {
      const near = this.#next < 0 ? this.#last : this.#next;
      place = near + psnDistance(psn, near % CIRCLE);
      if (place < this.#next - MOST_BEHIND && !this.#knows(place)) {
        place = psn + CIRCLE;
        this.#begin(place);
      }
    }
    let skipped = 0;
    if (this.#next >= 0 && place < this.#next) {
      skipped = -1;
      this.firstKnown = this.#knows(place);
      if (!this.firstKnown) this.#late.add(place);
    } else if (this.#next >= 0 && place > this.#next) {
      this.#gaps.push(this.#next, place);
      skipped = place - this.#next <= MOST_MISSING ? place - this.#next : 0;
    } else if (place < this.#first) this.#late.add(place);
    this.#last = place;
    const span = this.spanOf(readLength);
    if (span === undefined) this.#next = -1;
    else this.#next = Math.max(this.#next, place + span);
    return skipped;
  }

  /** A new connection: nothing of it has been seen. */
  #begin(place: number): void {
    this.#first = place;
    this.#next = -1;
    this.#gaps.length = 0;
    this.#late.clear();
  }

  #knows(place: number): boolean {
    if (this.#late.has(place)) return true;
    return place >= this.#first && !this.#skipped(place);
  }

  #skipped(place: number): boolean {
    const gaps = this.#gaps;
    let low = 0;
    let high = gaps.length / 2;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((gaps[middle * 2] ?? 0) <= place) low = middle + 1;
      else high = middle;
    }
    return low > 0 && place < (gaps[low * 2 - 1] ?? 0);
  }

  /** The PSNs that a request takes: a READ of so many bytes one for each response. Undefined if that is not known. */
  spanOf(length: number): number | undefined {
    if (this.#mtu !== undefined) return Math.max(1, Math.ceil(length / this.#mtu));
    return length <= LEAST_MTU ? 1 : undefined;
  }
}
