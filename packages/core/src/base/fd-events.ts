import { check } from './errors.js';

/** The native side of a descriptor that becomes readable when events wait. */
export interface EventSource {
  /** Begins to call back when the descriptor is readable. */
  watch(callback: () => void): number;
  /** Whether the watching keeps Node's loop alive. */
  ref(alive: boolean): void;
  /** Takes the waiting events off the descriptor. */
  drain(): void;
  /** The C function behind `watch`, for errors. */
  syscall: string;
}

/** The sources with waiters. They must not be collected, and nothing else holds them. */
const awaited = new Set<FdEvents>();

/**
 * A descriptor on Node's event loop. It is watched from the first wait on, and keeps the process alive only while it
 * has waiters. Its callback holds it weakly, so an object without waiters can be collected.
 */
export class FdEvents {
  readonly #source: EventSource;
  readonly #waiters = new Set<object>();
  #watched = false;
  /** The program takes events off the descriptor itself: who waits for one must have it raised before anything else. */
  taken = false;

  constructor(source: EventSource) {
    this.#source = source;
  }

  /** `waiter` is held until it leaves. */
  enter(waiter: object): void {
    if (!this.#watched) {
      const weak = new WeakRef(this);
      check(
        this.#source.watch(() => {
          const events = weak.deref();
          if (events !== undefined) events.#source.drain();
        }),
        this.#source.syscall,
      );
      this.#watched = true;
    }
    this.#waiters.add(waiter);
    if (this.#waiters.size === 1) {
      awaited.add(this);
      this.#source.ref(true);
    }
  }

  /** The waiter waits no longer. */
  leave(waiter: object): void {
    if (!this.#waiters.delete(waiter) || this.#waiters.size !== 0) return;
    awaited.delete(this);
    this.#source.ref(false);
  }

  /** The descriptor is gone. */
  closed(): void {
    this.#waiters.clear();
    awaited.delete(this);
  }
}
