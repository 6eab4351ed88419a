/**
 * Random numbers that a seed repeats.
 */
export class Random {
  /** @param {number} seed */
  constructor(seed) {
    this.state = seed >>> 0;
  }

  /** From 0 to below 1. */
  next() {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** @param {number} from @param {number} to */
  between(from, to) {
    return from + this.next() * (to - from);
  }

  /** A whole number below the limit. @param {number} limit */
  below(limit) {
    return Math.floor(this.next() * limit);
  }

  /** @template T @param {readonly T[]} values @returns {T} */
  pick(values) {
    return /** @type {T} */ (values[this.below(values.length)]);
  }
}

/**
 * The seed of run `index` of a series. The first run has the series' own seed, so that it alone is repeated by that.
 * @param {number} seed @param {number} index
 */
export function seedOf(seed, index) {
  return index === 0 ? seed : Math.imul(seed ^ Math.imul(index, 0x9e3779b1), 0x85ebca6b) >>> 0;
}
