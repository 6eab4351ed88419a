import type { Spin } from '@verbs/core/provider';
import type { EventSource } from './end.js';
import type { Waiting } from './waiting.js';

/** Attempts in a turn of the event loop: they take as long as the turn. More waits than that make one attempt each. */
const ATTEMPTS_PER_TURN = 8;

/** The channels with somebody asleep. Nothing else holds them: a source must not, or what nobody closes is never collected. */
const held = new Set<EventChannel>();

/**
 * What waits for an endpoint's descriptor, in the order of the calls.
 *
 * A wait first makes attempts in some turns of the event loop (see Spin of `@verbs/core`), so that no side makes the system
 * calls of a wake-up while messages go back and forth. Then it sleeps. One arming gives one event. So the channel is armed
 * first, then every attempt is made again, and the attempts without a result sleep. For a library that may lose an
 * event between a failed attempt and the arming, a slow timer backs this up. The descriptor stays watched after the last
 * attempt has succeeded, because the next one mostly follows soon; the watching ends with the first event that finds nobody asleep.
 */
export class EventChannel {
  readonly #source: EventSource;
  readonly #spin: Spin;
  readonly #waiting = new Set<Waiting>();
  #watched = false;
  /** The descriptor keeps the event loop alive. */
  #held = false;
  #spinning = false;
  #timer: NodeJS.Timeout | undefined;

  /** A wait makes attempts for a while, which `spin` decides, before it sleeps. */
  constructor(source: EventSource, spin: Spin) {
    this.#source = source;
    this.#spin = spin;
  }

  get waiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** Makes the attempt soon, and after every event, until it returns true. An error of the channel fails it. */
  wait(waiting: Waiting): void {
    this.#waiting.add(waiting);
    if (this.#waiting.size > 1 || this.#spinning) return;
    this.#spinning = this.#spin.begins();
    if (this.#spinning) setImmediate(this.#spinOn);
    else this.#sleep();
  }

  leave(waiting: Waiting): void {
    if (this.#waiting.delete(waiting)) this.#restIfDone();
  }

  /** Makes the attempts again, after a change that raises no event. */
  retry(): void {
    if (this.waiting && !this.#tryAll()) this.#sleep();
  }

  close(): void {
    this.#waiting.clear();
    held.delete(this);
    this.#stopTimer();
  }

  readonly #spinOn = (): void => {
    const { size } = this.#waiting;
    for (let attempts = 0; attempts < ATTEMPTS_PER_TURN && size !== 0; attempts += size) {
      if (this.#tryAll() || this.#waiting.size !== size) break;
    }
    const succeeds = this.#waiting.size !== size;
    if (succeeds) this.#spin.succeeds();
    this.#spinning = this.waiting && (succeeds ? this.#spin.begins() : this.#spin.goesOn());
    if (this.#spinning) setImmediate(this.#spinOn);
    else if (this.waiting) this.#sleep();
  };

  #watch(): void {
    if (this.#watched) return;
    const self = new WeakRef(this);
    this.#source.watch(() => {
      const channel = self.deref();
      if (channel !== undefined) channel.#happened();
    });
    this.#watched = true;
  }

  #happened(): void {
    if (!this.waiting || this.#spinning) this.#source.disarm();
    else if (!this.#tryAll()) this.#sleep();
  }

  #sleep(): void {
    try {
      this.#watch();
      this.#source.arm();
      this.#held = true;
      held.add(this);
    } catch (error) {
      for (const waiting of [...this.#waiting]) waiting.fail(error);
      return;
    }
    if (this.#tryAll() || !this.#source.loses) return;
    this.#timer ??= setInterval(() => {
      if (this.waiting) this.#sleep();
      else this.#stopTimer();
    }, 500).unref();
  }

  /** Whether none waits any more. */
  #tryAll(): boolean {
    for (const waiting of this.#waiting) {
      if (waiting.attempt()) this.#waiting.delete(waiting);
    }
    this.#restIfDone();
    return !this.waiting;
  }

  /** The descriptor holds the process only while something waits. */
  #restIfDone(): void {
    if (!this.#held || this.waiting) return;
    this.#source.rest();
    this.#held = false;
    held.delete(this);
  }

  #stopTimer(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
