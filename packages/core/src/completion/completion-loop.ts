import type { FdEvents } from '../base/fd-events.js';
import { budgetSpent, spend } from './budget.js';
import type { Spin } from './spin.js';

/** Polls in a row of a queue that is waited for, before the event loop runs on: they take as long as a turn of it. */
export const POLLS_PER_TURN = 8;

/** What a loop needs of its completion queue. */
export interface LoopedQueue {
  /** Whether it spins before it sleeps. */
  spin: Spin;
  /** The events of its channel; throws if it has none. */
  events: () => FdEvents;
  /** Asks for an event at the next completion. */
  arm: () => void;
  /** Resolves at the next event. */
  sleep: () => Promise<void>;
}

/** @internal Who serves a queue. */
export interface CompletionServer {
  /** Polls, and does what is to be done then. Returns the number of completions; undefined ends the loop. */
  take: () => number | undefined;
  /** `take` threw, or the queue was closed. */
  ended: (error: unknown) => void;
}

/**
 * Serves a completion queue: polls whenever there may be completions. It does what a call of `wait()` after the other does, spinning in
 * turns of the event loop and then sleeping, but makes a promise only where it sleeps. After 256 completions it yields to the event loop.
 */
export class CompletionLoop {
  readonly #queue: LoopedQueue;
  readonly #server: CompletionServer;
  #spinning = false;
  /** The last poll has found completions, so that the next one mostly finds nothing. */
  #found = false;

  constructor(queue: LoopedQueue, server: CompletionServer) {
    this.#queue = queue;
    this.#server = server;
  }

  /** Polls now, and goes on. */
  readonly turn = (): void => {
    try {
      this.#turn();
    } catch (error) {
      this.#server.ended(error);
    }
  };

  #turn(): void {
    const { spin, events } = this.#queue;
    const { take } = this.#server;
    // Who is about to sleep polls behind the arming anyway, and a poll costs a system call on some devices.
    let found = this.#found ? 0 : take();
    this.#found = false;
    if (found === 0 && !events().taken && (this.#spinning || spin.begins())) {
      this.#spinning = true;
      for (let polls = 0; found === 0 && polls < POLLS_PER_TURN; polls++) found = take();
    }
    if (found === undefined) return;
    if (found !== 0) {
      if (this.#spinning) spin.succeeds();
      this.#again(found);
    } else if (this.#spinning && !events().taken && spin.goesOn()) {
      setImmediate(this.turn);
    } else {
      this.#sleep();
    }
  }

  /** There may be more already: polls again when the running code and the reactions of settled promises have ended. */
  #again(found: number): void {
    this.#spinning = false;
    this.#found = true;
    spend(found);
    if (budgetSpent()) setImmediate(this.turn);
    else
      queueMicrotask(() => {
        process.nextTick(this.turn);
      });
  }

  #sleep(): void {
    this.#spinning = false;
    this.#queue.arm();
    // A completion between the poll and the arming raises no event.
    const found = this.#server.take();
    if (found === undefined) return;
    if (found !== 0) this.#again(found);
    else this.#queue.sleep().then(this.turn, this.#server.ended);
  }
}
