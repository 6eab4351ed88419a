// What every message holds, both sides know: a piece of one long text without pattern, made from the seed.

const POOL = 1 << 20;

/** A generator of numbers from 0 to 1, the same for the same seed. */
export function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export class Pattern {
  #pool = Buffer.alloc(POOL);

  constructor(seed) {
    const random = randomOf(seed);
    for (let at = 0; at < POOL; at += 4) this.#pool.writeUInt32LE(random() * 2 ** 32, at);
  }

  /** Message `number` of sender 0 or 1, of 1 to `longest` bytes. */
  message(sender, number, longest) {
    const mixed = Math.imul(number * 2 + sender + 1, 2654435761) >>> 0;
    // Half of the messages are short, as in most programs.
    const room = (mixed & 1) === 0 ? Math.min(longest, 256) : longest;
    const size = 1 + ((mixed >>> 1) % room);
    return this.piece((mixed >>> 7) + number, size);
  }

  piece(place, size) {
    const offset = place % (POOL - size);
    return this.#pool.subarray(offset, offset + size);
  }
}
