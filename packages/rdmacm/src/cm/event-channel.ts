import type { LibraryKind, WaitOptions } from '@verbs/core';
import {
  check,
  checked,
  closedError,
  coreNative,
  FdEvents,
  type NativeHandle,
  Resource,
  signalOf,
  uncaught,
  validate,
  WakeList,
} from '@verbs/core/provider';
import { PortSpace } from '../base/enums.js';
import { kindOfOptions, libraries } from '../base/libraries.js';
import { native, type NativeEvent } from '../base/native.js';
import { kDispatch, kEvents, kExpect, kRegister, kResume, kWatcher } from '../base/symbols.js';
import { type CmEvent, cmEvent } from './cm-event.js';
import { CmId } from './cm-id.js';

const SYSCALL = 'rdma_get_cm_event';

/** Somebody waits for an event of an identifier. */
interface Expected {
  readonly id: CmId;
  readonly wanted: ReadonlySet<CmEvent['name']>;
  found: CmEvent | undefined;
}

/** Events that are taken before the event loop runs its other callbacks. */
const EVENTS_PER_YIELD = 64;
/** Milliseconds until a channel that could not be read is read again, where nobody asks for that. */
const AGAIN = 100;

/**
 * `struct rdma_event_channel`: where the events of identifiers come. Created by {@link createEventChannel}; `close()` is
 * `rdma_destroy_event_channel`, and closes the identifiers first.
 */
export class EventChannel extends Resource {
  /** Whose librdmacm it is. */
  readonly library: LibraryKind;
  readonly #fd: number;
  readonly #ids = new Map<number, WeakRef<CmId>>();
  readonly #sleepers = new WakeList();
  readonly #expected = new Set<Expected>();
  readonly #events: FdEvents;
  #queue: CmEvent[] = [];
  #sleeping = 0;
  #dispatches = false;
  #paused = false;
  /** Somebody waits, and keeps the process alive. */
  #alive = false;

  /** @internal */
  constructor(library: LibraryKind, made: { handle: NativeHandle; fd: number }) {
    super('EventChannel', made.handle, 'rdma_destroy_event_channel', []);
    this.library = library;
    this.#fd = made.fd;
    const { handle } = made;
    const weak = new WeakRef(this);
    this.#events = new FdEvents({
      watch: (callback) => native.watchChannel(handle, callback),
      ref: (alive) => {
        const channel = weak.deref();
        if (channel !== undefined) channel.#alive = alive;
        // Who waits for an identifier leaves while the channel closes: the addon has closed it then.
        if (coreNative.isOpen(handle)) native.refChannel(handle, alive);
      },
      drain: () => {
        const channel = weak.deref();
        if (channel !== undefined) channel.#drain();
      },
      syscall: SYSCALL,
    });
  }

  /** The descriptor, readable while events wait. A program that polls it takes them by {@link EventChannel.getCmEvent}. */
  get fd(): number {
    this.use('rdma_event_channel.fd');
    return this.#fd;
  }

  /**
   * `rdma_get_cm_event` and `rdma_ack_cm_event`, without blocking: the next event, or undefined if there is none.
   *
   * @throws VerbsError with the library's errno
   * @example
   * const channel = createEventChannel();
   * const event = channel.getCmEvent();
   * if (event?.name === 'CONNECT_REQUEST') event.id?.reject();
   */
  getCmEvent(): CmEvent | undefined {
    const handle = this.use(SYSCALL);
    const waiting = this.#queue.shift();
    if (waiting !== undefined) return waiting;
    for (;;) {
      const taken = this.#next(handle);
      if (taken?.seen !== true) return taken?.event;
    }
  }

  /**
   * The next event.
   *
   * @throws VerbsError ERR_VERBS_CLOSED if the channel is closed meanwhile; the signal's reason
   * @example const { name, id } = await channel.next();
   */
  async next(options?: WaitOptions): Promise<CmEvent> {
    const signal = signalOf(options);
    for (;;) {
      signal?.throwIfAborted();
      const event = this.getCmEvent();
      if (event !== undefined) return event;
      await this.#sleep(signal);
    }
  }

  /**
   * The events as they come, until the channel is closed. It keeps the process alive meanwhile.
   *
   * @example for await (const { name, id } of channel) console.log(name, id);
   */
  [Symbol.asyncIterator](): AsyncGenerator<CmEvent, void, undefined> {
    return this.events();
  }

  /** The same, also until the signal is aborted. */
  async *events(options?: WaitOptions): AsyncGenerator<CmEvent, void, undefined> {
    const signal = signalOf(options);
    this.use(SYSCALL);
    for (;;) {
      signal?.throwIfAborted();
      if (this.closed) return;
      const event = this.getCmEvent();
      if (event !== undefined) yield event;
      else await this.#sleep(signal);
    }
  }

  /**
   * `rdma_create_id`: an identifier whose events come here.
   *
   * @param ps see {@link PortSpace}
   * @throws VerbsError ENODEV, ENOMEM
   * @example const id = channel.createId();
   */
  createId(ps: PortSpace = PortSpace.TCP): CmId {
    const channel = this.use('rdma_create_id');
    validate.integer(ps, 'ps', 0, 0xffff);
    return new CmId(this, checked(native.createId(channel, ps), 'rdma_create_id'));
  }

  /** @internal Takes its events without being asked: each identifier has a watcher. */
  [kDispatch](): void {
    this.#dispatches = true;
  }

  /** @internal Reads on after a failure: somebody waits again. */
  [kResume](): void {
    this.#pause(false);
  }

  /** @internal */
  get [kEvents](): FdEvents {
    return this.#events;
  }

  /** @internal */
  [kRegister](key: number, id: CmId | undefined): void {
    if (id === undefined) this.#ids.delete(key);
    else this.#ids.set(key, new WeakRef(id));
    // Who expects an event of it learns that there will be none; later, since the channel itself may be closing.
    if (id === undefined && this.#expected.size > 0) {
      queueMicrotask(() => {
        this.#sleepers.wakeAll();
      });
    }
  }

  /**
   * @internal The first event of an identifier that `wanted` takes. No one else gets it; all others go where they would go
   * without.
   */
  async [kExpect](id: CmId, wanted: ReadonlySet<CmEvent['name']>, syscall: string): Promise<CmEvent> {
    const expected: Expected = { id, wanted, found: undefined };
    this.#expected.add(expected);
    try {
      while (expected.found === undefined) {
        if (id.closed) throw closedError('CmId', syscall);
        if (id.channel !== this) return await id.channel[kExpect](id, wanted, syscall);
        const taken = this.#next(this.use(syscall));
        if (taken === undefined) await this.#sleep(undefined);
        else if (!taken.seen) this.#keep(taken.event);
      }
      return expected.found;
    } finally {
      this.#expected.delete(expected);
    }
  }

  #keep(event: CmEvent): void {
    this.#queue.push(event);
    this.#sleepers.wakeAll();
  }

  async #sleep(signal: AbortSignal | undefined): Promise<void> {
    this.#sleeping++;
    try {
      const slept = this.#sleepers.sleep(this.#events, this, signal);
      this.#pause(false);
      await slept;
    } finally {
      this.#sleeping--;
    }
  }

  #pause(paused: boolean): void {
    if (this.closed || this.#paused === paused) return;
    this.#paused = paused;
    check(native.pauseChannel(this.use(SYSCALL), paused), SYSCALL);
  }

  /** Takes an event. `seen`: somebody had it, the watcher of its identifier or who expects it. */
  #next(channel: NativeHandle): { event: CmEvent; seen: boolean } | undefined {
    const raw = native.getCmEvent(channel);
    if (typeof raw !== 'number') return this.#deliver(raw);
    if (coreNative.errnoName(-raw) === 'EAGAIN') return undefined;
    check(raw, SYSCALL);
    return undefined;
  }

  #deliver(raw: NativeEvent): { event: CmEvent; seen: boolean } {
    const listenId = this.#ids.get(raw.listenId)?.deref();
    const id = raw.made === undefined ? this.#ids.get(raw.id)?.deref() : new CmId(this, raw.made);
    const event = cmEvent(raw, id, listenId);
    for (const expected of this.#expected) {
      if (expected.id !== id || expected.found !== undefined || !expected.wanted.has(event.name)) continue;
      expected.found = event;
      this.#sleepers.wakeAll();
      return { event, seen: true };
    }
    // A request is for the listener.
    const receiver = raw.made === undefined ? id : listenId;
    const watcher = receiver?.[kWatcher];
    try {
      watcher?.onEvent(event);
    } catch (error) {
      // Of a program's listener: the channel is in order, and others have their events by it.
      uncaught(error);
    }
    return { event, seen: watcher !== undefined };
  }

  #drain(): void {
    if (this.closed) return;
    // Nobody reads: a readable descriptor must not keep the loop busy.
    if (this.#sleeping === 0 && !this.#dispatches) {
      this.#pause(true);
      return;
    }
    try {
      for (let count = 0; count < EVENTS_PER_YIELD && this.#take(); count++);
    } catch (error) {
      this.#pause(true);
      this.#sleepers.failAll(error);
      for (const id of this.#ids.values()) {
        const watcher = id.deref()?.[kWatcher];
        watcher?.onFailure(error);
      }
      this.#readAgain();
      return;
    }
    if (this.#queue.length > 0) this.#sleepers.wakeAll();
  }

  /** A watcher may wait for what comes without asking, as a connection does that has a listener only. */
  #readAgain(): void {
    if (!this.#dispatches) return;
    const timer = setTimeout(() => {
      this.#pause(false);
    }, AGAIN);
    if (!this.#alive) timer.unref();
  }

  /** Takes an event for those who wait. False if there is none, or if a watcher has closed the channel. */
  #take(): boolean {
    if (this.closed) return false;
    const taken = this.#next(this.use(SYSCALL));
    if (taken?.seen === false) this.#queue.push(taken.event);
    return taken !== undefined;
  }

  protected override onClosed(): void {
    this.#queue = [];
    this.#sleepers.wakeAll();
    this.#events.closed();
  }

  protected override describe() {
    return { library: this.library, fd: this.closed ? undefined : this.#fd };
  }
}

/**
 * `rdma_create_event_channel`.
 *
 * @param options `library`: default as of {@link connect}
 * @throws VerbsError ENOSYS (no library), ENODEV (no connection manager in the kernel), EACCES
 * @example
 * using events = createEventChannel();
 * const id = events.createId(PortSpace.TCP);
 */
export function createEventChannel(options: { library?: LibraryKind } = {}): EventChannel {
  const syscall = 'rdma_create_event_channel';
  const kind = kindOfOptions(options);
  return new EventChannel(kind, checked(native.createEventChannel(libraries.for(kind, syscall).vendor), syscall));
}
