import { setImmediate } from 'node:timers/promises';
import { closedError } from '../base/errors.js';
import { FdEvents } from '../base/fd-events.js';
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
/** Events that are kept while nothing listens: the newest. */
const MISSED_AT_MOST = 1024;

/** The asynchronous events of one open device, and the objects that they are about. */
export class DeviceEvents {
  readonly #context: Context;
  readonly #handle: NativeHandle;
  readonly #descriptor: FdEvents;
  readonly #wakes = new WakeList();
  /** Events that arrived without a listener and without an iteration; for the next iteration. */
  readonly #missed: AsyncEvent[] = [];
  /** Every iteration has all events. */
  readonly #iterations = new Set<AsyncEvent[]>();
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
    const queue = this.#missed.splice(0);
    this.#iterations.add(queue);
    try {
      let delivered = 0;
      while (!this.#context.closed) {
        signal?.throwIfAborted();
        if (queue.length === 0) this.#drain();
        const event = queue.shift();
        if (event === undefined) {
          await this.#sleep(signal);
          continue;
        }
        yield event;
        // The program's reaction to an event may raise the next one.
        if (++delivered % EVENTS_PER_YIELD === 0) await setImmediate();
      }
    } finally {
      this.#iterations.delete(queue);
      if (this.#iterations.size === 0) for (const event of queue) this.#miss(event);
    }
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
    for (let count = 0; count < 64; count++) {
      const event = native.getAsyncEvent(this.#handle);
      if (typeof event === 'number') break;
      this.#deliver(asyncEvent(...event, (id) => this.#elements.get(id)));
    }
  }

  #miss(event: AsyncEvent): void {
    this.#missed.push(event);
    if (this.#missed.length > MISSED_AT_MOST) this.#missed.shift();
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
    for (const queue of this.#iterations) queue.push(event);
    if (this.#iterations.size === 0 && !listened) this.#miss(event);
    this.#wakes.wakeAll();
    // Last, since a listener may throw.
    if (!listened) return;
    this.#emitter?.emit(event.name as keyof typeof EventType, event);
    this.#emitter?.emit('event', event);
  }
}
