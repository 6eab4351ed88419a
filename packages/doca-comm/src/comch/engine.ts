import { checked } from '../base/errors.js';
import type { Library } from '../base/libraries.js';
import { type EngineHandle, native } from '../base/native.js';

/** A context of an engine, as the engine knows it. */
export interface EngineUser {
  /** Events are there, or a task has completed. */
  onEvents: () => void;
}

/** Calls of `doca_pe_progress` in a turn of the event loop. */
const PER_TURN = 256;
/** Bytes of events, where somebody waits for the completion of a task, which may be behind them. */
const MOST = 2 ** 26;
/** Longer than any program waits, milliseconds. */
const FOR_GOOD = 2 ** 31 - 1;
/** Milliseconds after which a sleeping engine of a card looks again: DOCA's library may lose a wake-up. */
const BOUND = 100;

/** The engines of this thread, for calls that block until the other end of a connection has made progress as well. */
const engines = new Set<WeakRef<Engine>>();

/** The engines that somebody waits for. They must not be collected, nor what waits, and nothing else holds them. */
const awaited = new Set<Engine>();

/**
 * A progress engine (`doca_pe`). Everything of Comch happens inside {@link progress}: who waits either calls it, or sleeps.
 * Sleeping is what DOCA's guide says: progress until nothing happens, request a notification, progress once more, and wait
 * for the descriptor.
 */
export class Engine {
  readonly handle: EngineHandle;
  readonly #users = new Map<number, WeakRef<EngineUser>>();
  readonly #ready = new Uint32Array(65);
  readonly #woken = new Set<number>();
  readonly #bounded: boolean;
  readonly #limit: number;
  readonly #self = new WeakRef(this);
  /** The sources with somebody who waits. */
  readonly #holders = new Set<object>();
  #sleepers = 0;
  /** How many wait for the completion of a task. */
  #expecting = 0;
  /** Nothing wakes the engine while the events that wait leave no room for others. This keeps the event loop alive. */
  #full: NodeJS.Timeout | undefined;
  #armed = false;
  #watched = false;
  #running = false;
  #flushing = false;
  #timer: NodeJS.Timeout | undefined;

  /**
   * `backlog`: bytes of events that may wait to be taken before the progress stops, and with it the peers. Where somebody
   * waits for the completion of a task it goes on: the program may take no events before that.
   */
  constructor(library: Library, backlog: number) {
    this.handle = checked<EngineHandle>(native.createEngine(library.handle), 'doca_pe_create');
    this.#limit = backlog;
    this.#bounded = library.kind === 'system';
    engines.add(this.#self);
  }

  /** A context that has been started. A notification that was requested before is none of its. */
  add(id: number, user: EngineUser): void {
    this.#users.set(id, new WeakRef(user));
    if (!this.#armed) return;
    this.#disarm();
    if (this.#sleepers > 0) this.#arm();
  }

  remove(id: number): void {
    this.#users.delete(id);
    // Its events are gone with it.
    this.resume();
  }

  /**
   * Makes progress, and wakes what waits for it soon. Whether something happened. `completions`: the caller wants the
   * completion of a task.
   */
  progress(times = PER_TURN, completions = false): boolean {
    const happened = native.progress(this.handle, times, this.#room(completions), this.#ready);
    this.#collect();
    if (this.#woken.size > 0 && !this.#running && !this.#flushing) {
      this.#flushing = true;
      setImmediate(this.#flush);
    }
    return happened > 0;
  }

  /** Blocks until `done` says so, for so many milliseconds at most. All engines of this thread make progress meanwhile. */
  block(done: () => boolean, milliseconds: number): boolean {
    const end = performance.now() + milliseconds;
    for (;;) {
      while (this.progress(PER_TURN, true));
      if (done()) return true;
      if (performance.now() > end) return false;
      if (this.progressOthers()) continue;
      this.#arm();
      if (this.progress(PER_TURN, true) || done() || !native.waitEngine(this.handle, engines.size > 1 ? 1 : 10))
        continue;
      this.#disarm();
    }
  }

  /** The other end of a connection may be in this thread, and nobody waits for it now. Whether something happened. */
  progressOthers(): boolean {
    let happened = false;
    for (const each of engines) {
      const engine = each.deref();
      if (engine === undefined) engines.delete(each);
      else if (engine !== this && engine.progress(16)) happened = true;
    }
    return happened;
  }

  /** Sleeps on behalf of a source, which hears of the next events by `onEvents`. */
  sleep(): void {
    this.#sleepers++;
    this.#watch();
    if (!this.#running) this.#arm();
    if (this.#bounded) this.#timer ??= setInterval(this.#run, BOUND).unref();
  }

  wake(): void {
    this.#sleepers--;
  }

  /** Somebody waits for the completion of a task, until {@link unexpect}. */
  expect(): void {
    this.#expecting++;
    this.resume();
  }
  unexpect(): void {
    this.#expecting--;
  }

  /** Events were taken: where their number has stopped the progress, it goes on. */
  resume(): void {
    if (this.#full === undefined || this.#isFull()) return;
    clearInterval(this.#full);
    this.#full = undefined;
    setImmediate(this.#run);
  }

  /** Somebody waits for the source: it is held, and keeps the event loop alive. */
  hold(source: object): void {
    this.#holders.add(source);
    awaited.add(this);
    this.#full?.ref();
    native.holdEngine(this.handle, true);
  }

  /** Nobody waits for it any more. */
  release(source: object): void {
    this.#holders.delete(source);
    if (this.#holders.size > 0) return;
    awaited.delete(this);
    this.#full?.unref();
    native.holdEngine(this.handle, false);
  }

  /** `doca_pe_destroy`, once it has no context any more. */
  close(): void {
    clearInterval(this.#timer);
    clearInterval(this.#full);
    this.#full = undefined;
    engines.delete(this.#self);
    awaited.delete(this);
    native.destroyEngine(this.handle);
  }

  #collect(): void {
    for (;;) {
      const count = this.#ready[0] ?? 0;
      for (let i = 1; i <= count; i++) this.#woken.add(this.#ready[i] ?? 0);
      if (count + 1 < this.#ready.length) return;
      native.progress(this.handle, 0, 0, this.#ready);
    }
  }

  readonly #flush = (): void => {
    this.#flushing = false;
    for (const id of this.#woken) {
      this.#woken.delete(id);
      this.#users.get(id)?.deref()?.onEvents();
    }
  };

  #watch(): void {
    if (this.#watched) return;
    // The addon must not keep an engine that the program has dropped.
    const self = this.#self;
    const readable = (): void => {
      const engine = self.deref();
      if (engine === undefined) return;
      engine.#disarm();
      engine.#run();
    };
    checked(native.watchEngine(this.handle, readable), 'doca_pe_get_notification_handle');
    native.holdEngine(this.handle, this.#holders.size > 0);
    this.#watched = true;
    // A call that blocked has requested a notification, without a watcher.
    if (this.#armed) this.#disarm();
  }

  #room(completions: boolean): number {
    return completions || this.#expecting > 0 ? Math.max(MOST, this.#limit) : this.#limit;
  }
  #isFull(): boolean {
    return native.engineBacklog(this.handle) > this.#room(false);
  }

  #arm(): void {
    if (this.#armed) return;
    if (this.#isFull()) {
      // The descriptor would be readable at once, again and again.
      this.#full ??= setInterval(() => undefined, FOR_GOOD);
      if (this.#holders.size === 0) this.#full.unref();
      return;
    }
    clearInterval(this.#full);
    this.#full = undefined;
    checked(native.armEngine(this.handle), 'doca_pe_request_notification');
    this.#armed = true;
  }

  #disarm(): void {
    this.#armed = false;
    native.clearEngine(this.handle);
  }

  readonly #run = (): void => {
    if (this.#running) return;
    this.#running = true;
    try {
      for (let turns = 0; ; turns++) {
        if (turns > 4) {
          setImmediate(this.#run);
          return;
        }
        const happened = this.progress();
        this.#flush();
        if (happened) continue;
        if (this.#sleepers === 0) break;
        if (this.#armed) return;
        this.#arm();
        if (this.#full !== undefined) return;
      }
      clearInterval(this.#timer);
      this.#timer = undefined;
      native.restEngine(this.handle);
      if (this.#armed) this.#disarm();
    } finally {
      this.#running = false;
    }
  };
}
