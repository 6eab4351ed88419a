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
  /** Those who do not keep the process alive. */
  readonly #quiet = new WeakSet<object>();
  #watched = false;
  #alive = false;
  #failure: Error | undefined;
  /** The program takes events off the descriptor itself: who waits for one must have it raised before anything else. */
  taken = false;

  constructor(source: EventSource) {
    this.#source = source;
  }

  /** `waiter` is held until it leaves. Throws if the descriptor cannot be read any more. */
  enter(waiter: object): void {
    if (this.#failure !== undefined) throw this.#failure;
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
    if (this.#waiters.size === 1) awaited.add(this);
    this.#keepAlive();
  }

  /** Whether the waits of that waiter, this one and later ones, leave the process free to end. */
  quiet(waiter: object, quiet: boolean): void {
    if (quiet) this.#quiet.add(waiter);
    else this.#quiet.delete(waiter);
    this.#keepAlive();
  }

  #keepAlive(): void {
    let alive = false;
    for (const waiter of this.#waiters) {
      alive = !this.#quiet.has(waiter);
      if (alive) break;
    }
    if (alive === this.#alive) return;
    this.#alive = alive;
    this.#source.ref(alive);
  }

  /** The waiter waits no longer. */
  leave(waiter: object): void {
    if (!this.#waiters.delete(waiter)) return;
    if (this.#waiters.size === 0) awaited.delete(this);
    this.#keepAlive();
  }

  /** The descriptor cannot be read any more, as that of a device that was unplugged. */
  failed(error: Error): void {
    this.#failure = error;
  }

  /** The descriptor is gone. */
  closed(): void {
    this.#waiters.clear();
    awaited.delete(this);
  }
}
