/** Numbers for keys of three 32-bit words: the first key gets 0, the next one 1. */
export class Numbering {
  #keys = new Uint32Array(3 * 64);
  /** A number and one, or 0. */
  #slots = new Uint32Array(256);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** The number of a key, or -1. */
  find(a: number, b: number, c: number): number {
    return (this.#slots[this.#slot(a, b, c)] ?? 0) - 1;
  }

  /** A number for a key that has none. */
  add(a: number, b: number, c: number): number {
    const number = this.#count;
    if (number * 4 >= this.#slots.length) this.#grow();
    this.#count += 1;
    this.#keys.set([a, b, c], number * 3);
    this.#slots[this.#slot(a, b, c)] = number + 1;
    return number;
  }

  /** Where a key is, or would be. */
  #slot(a: number, b: number, c: number): number {
    const keys = this.#keys;
    const mask = this.#slots.length - 1;
    for (let slot = hash(a, hash(b, c)) & mask; ; slot = (slot + 1) & mask) {
      const at = ((this.#slots[slot] ?? 0) - 1) * 3;
      if (at < 0 || (keys[at] === a && keys[at + 1] === b && keys[at + 2] === c)) return slot;
    }
  }

  #grow(): void {
    const keys = new Uint32Array(this.#keys.length * 2);
    keys.set(this.#keys);
    this.#keys = keys;
    this.#slots = new Uint32Array(this.#slots.length * 2);
    for (let number = 0; number < this.#count; number += 1) {
      const [a = 0, b = 0, c = 0] = keys.subarray(number * 3, number * 3 + 3);
      this.#slots[this.#slot(a, b, c)] = number + 1;
    }
  }
}

/** Spreads the bits of two words over one. */
export function hash(a: number, b: number): number {
  const mixed = Math.imul(a ^ (a >>> 15), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
