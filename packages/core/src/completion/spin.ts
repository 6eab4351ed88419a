/** Waits in a row that sleep at once after spinning was in vain, at most. */
const LONGEST_PAUSE = 63;

/**
 * Whether a wait polls for a while before it sleeps. That is worth it while completions come sooner than a thread wakes
 * up. Each spinning in vain doubles the number of waits until the next attempt, and the first success ends that: a queue
 * with long waits, or a loop or processor that others keep busy, spends nearly nothing.
 */
export class Spin {
  readonly #limit: number;
  readonly #now: () => number;
  #end = 0;
  /** Waits that sleep at once after the next spinning in vain. */
  #pause = 0;
  /** Waits that still do so. */
  #skipped = 0;

  /** `microseconds` of a wait, 0 for never; `now` is a clock in milliseconds. */
  constructor(microseconds: number, now: () => number = () => performance.now()) {
    this.#limit = microseconds / 1000;
    this.#now = now;
  }

  /** A wait begins. Whether it spins; then `succeed` follows, or `goesOn` until that is false. */
  begins(): boolean {
    if (this.#limit === 0) return false;
    if (this.#skipped !== 0) {
      this.#skipped--;
      return false;
    }
    this.#end = this.#now() + this.#limit;
    return true;
  }

  /** Whether there is time left; if not, the spinning was in vain. */
  goesOn(): boolean {
    if (this.#now() < this.#end) return true;
    this.#pause = Math.min(2 * this.#pause + 1, LONGEST_PAUSE);
    this.#skipped = this.#pause;
    return false;
  }

  /** A completion came. */
  succeeds(): void {
    this.#pause = 0;
  }
}
