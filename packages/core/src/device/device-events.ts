import { setImmediate } from 'node:timers/promises';
import { closedError, VerbsError } from '../base/errors.js';
import { FdEvents } from '../base/fd-events.js';
import { uncaught } from '../base/handled.js';
import { native, type NativeHandle } from '../base/native.js';
import { kSeeState, kSerial } from '../base/symbols.js';
import { WakeList } from '../base/wake-list.js';
import { deviceEvents } from '../diagnostics/channels.js';
import type { EventType } from '../enums/index.js';
import { kindOf } from '../lifetime/resource.js';
import { WeakTable } from '../lifetime/weak-table.js';
import type { QueuePair } from '../qp/queue-pair.js';
import type { AsyncEvent } from '../types/device.js';
import type { Context } from '../types/objects.js';
import { asyncEvent } from './async-event.js';
import { DeviceEventEmitter } from './device-event-emitter.js';

/** Events of an iteration before the event loop runs its other callbacks. */
const EVENTS_PER_YIELD = 64;
/** Events that are kept for iterations: the newest. */
const KEPT_AT_MOST = 1024;

/** Where an iteration is: the number of the event that it gives out next. */
interface Place {
  next: number;
}

/** The asynchronous events of one open device, and the objects that they are about. */
export class DeviceEvents {
  readonly #context: Context;
  readonly #handle: NativeHandle;
  readonly #descriptor: FdEvents;
  readonly #wakes = new WakeList();
  /** The events that an iteration may still give out, the first of them with the number `#first`. */
  readonly #kept: AsyncEvent[] = [];
  #first = 0;
  /** Those before this number somebody has got: a listener or an iteration. The next iteration begins there. */
  #seen = 0;
  /** Every iteration has all events. One that the program has dropped has no part in what is kept. */
  readonly #iterations = new Set<WeakRef<Place>>();
  readonly #elements = new WeakTable<object>();
  #emitter: DeviceEventEmitter | undefined;

  constructor(context: Context, handle: NativeHandle) {
    this.#context = context;
    this.#handle = handle;
    const weak = new WeakRef(this);
    this.#descriptor = new FdEvents({
      watch: (callback) => native.watchAsync(handle, callback),
      ref: (alive) => {
        const events = weak.deref();
        if (events !== undefined && !events.#context.closed) native.refAsync(handle, alive);
      },
      drain: () => {
        const events = weak.deref();
        if (events !== undefined) events.#drain();
      },
      syscall: 'ibv_get_async_event',
    });
    if (deviceEvents.hasSubscribers) this.#watch();
  }

  /** Watches the descriptor for subscribers of the diagnostics channel. It keeps nothing alive, and may fail. */
  #watch(): void {
    try {
      this.#descriptor.enter(this);
      this.#descriptor.leave(this);
    } catch {
      // A program that listens for events gets the error.
    }
  }

  get emitter(): DeviceEventEmitter {
    return (this.#emitter ??= new DeviceEventEmitter((inUse) => {
      if (this.#context.closed) return;
      if (inUse) this.#descriptor.enter(this.emitter);
      else this.#descriptor.leave(this.emitter);
    }));
  }

  async *iterate(signal: AbortSignal | undefined): AsyncGenerator<AsyncEvent, void, undefined> {
    const place: Place = { next: this.#seen };
    const reference = new WeakRef(place);
    this.#iterations.add(reference);
    try {
      let delivered = 0;
      while (!this.#context.closed) {
        signal?.throwIfAborted();
        if (place.next >= this.#first + this.#kept.length) this.#drain();
        const event = this.#take(place);
        if (event === undefined) {
          await this.#sleep(signal);
          continue;
        }
        yield event;
        // The program's reaction to an event may raise the next one.
        if (++delivered % EVENTS_PER_YIELD === 0) await setImmediate();
      }
    } finally {
      this.#iterations.delete(reference);
      this.#forget();
    }
  }

  #take(place: Place): AsyncEvent | undefined {
    const number = Math.max(place.next, this.#first);
    const event = this.#kept[number - this.#first];
    if (event === undefined) return undefined;
    place.next = number + 1;
    this.#seen = Math.max(this.#seen, place.next);
    this.#forget();
    return event;
  }

  #keep(event: AsyncEvent, seen: boolean): void {
    this.#kept.push(event);
    const end = this.#first + this.#kept.length;
    this.#seen = Math.max(seen ? end : this.#seen, end - KEPT_AT_MOST);
    this.#forget();
  }

  /** Forgets what no iteration gives out any more. */
  #forget(): void {
    let from = this.#seen;
    for (const reference of this.#iterations) {
      const place = reference.deref();
      if (place === undefined) this.#iterations.delete(reference);
      else from = Math.min(from, place.next);
    }
    const count = Math.max(from - this.#first, this.#kept.length - KEPT_AT_MOST);
    if (count <= 0) return;
    this.#kept.splice(0, count);
    this.#first += count;
  }

  /** Lets events find the object of an id; undefined forgets it. */
  element(id: number, element: object | undefined): void {
    if (element === undefined) this.#elements.delete(id);
    else this.#elements.set(id, element);
  }

  closed(): void {
    this.#descriptor.closed();
    this.#wakes.failAll(closedError('Context', 'ibv_get_async_event'));
  }

  async #sleep(signal: AbortSignal | undefined): Promise<void> {
    try {
      await this.#wakes.sleep(this.#descriptor, this.#context, signal);
    } catch (error) {
      if (!this.#context.closed) throw error;
    }
  }

  #drain(): void {
    // Bounded: the rest makes the descriptor readable again.
    for (let count = 0; count < 64 && !this.#context.closed; count++) {
      const event = native.getAsyncEvent(this.#handle);
      if (typeof event === 'number') {
        if (native.errnoName(-event) !== 'EAGAIN') this.#fail(new VerbsError(event, 'ibv_get_async_event'));
        break;
      }
      this.#deliver(asyncEvent(...event, (id) => this.#elements.get(id)));
    }
  }

  /** No event comes any more, as of a device that was unplugged. */
  #fail(error: Error): void {
    this.#descriptor.failed(error);
    this.#wakes.failAll(error);
  }

  #publish(event: AsyncEvent): void {
    const { element } = event;
    if (kindOf(element) === 'QueuePair') (element as QueuePair)[kSeeState]('event');
    if (!deviceEvents.hasSubscribers) return;
    deviceEvents.publish({ id: this.#context[kSerial], context: this.#context, event });
  }

  #deliver(event: AsyncEvent): void {
    this.#publish(event);
    const listened = this.#emitter?.hasListeners === true;
    this.#keep(event, listened);
    this.#wakes.wakeAll();
    if (!listened) return;
    for (const name of [event.name as keyof typeof EventType, 'event'] as const) {
      try {
        this.#emitter?.emit(name, event);
      } catch (error) {
        // It is none of the iteration that found the event.
        uncaught(error);
      }
    }
  }
}
