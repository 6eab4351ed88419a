// Numbers by chance that a seed repeats: everything a sequence decides comes from here.

/** @param {number} seed @param {number} index */
export function seedOf(seed, index) {
  // Neighbouring sequences must have nothing in common.
  let mixed = (Math.imul(seed, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b)) >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x45d9f3b) >>> 0;
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

export class Random {
  #state;

  constructor(seed) {
    this.#state = seed >>> 0;
  }

  /** 32 bits (mulberry32). */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }

  /** 0 to n - 1. */
  below(n) {
    return this.next() % n;
  }

  /** True once in `n` times. */
  oneIn(n) {
    return this.below(n) === 0;
  }

  pick(list) {
    return list[this.below(list.length)];
  }

  /** One of the keys, as often as its number says. */
  weighted(weights) {
    const entries = Object.entries(weights);
    let at = this.below(entries.reduce((sum, [, weight]) => sum + weight, 0));
    for (const [key, weight] of entries) if ((at -= weight) < 0) return key;
    throw new Error('the weights do not add up');
  }

  shuffled(list) {
    const copy = [...list];
    for (let i = copy.length - 1; i > 0; i--) {
      const j = this.below(i + 1);
      [copy[i], copy[j]] = [copy[j], copy[i]];
    }
    return copy;
  }
}
