/** Messages in a row after which `send()` or `receive()` yields to the event loop. */
const LENGTH = 256;

/** The turn of one direction of an endpoint: its messages since it last yielded to the event loop. */
export class Turn {
  #passed = 0;

  /** Counts a message. True for the last one of the turn, behind which the caller yields. */
  isOver(): boolean {
    if (++this.#passed < LENGTH) return false;
    this.#passed = 0;
    return true;
  }
}

/** Resolves in the next iteration of the event loop. */
export function yieldToLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
