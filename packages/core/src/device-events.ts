import { setImmediate } from 'node:timers/promises';
import { asyncEvent, type AsyncEvent } from './async-event.js';
import { closedError } from './errors.js';
import { FdEvents } from './fd-events.js';
import { native, type NativeHandle } from './native.js';
import type { Resource } from './resource.js';
import { WakeList } from './wake-list.js';
import { WeakTable } from './weak-table.js';

/** So many events an iteration hands out before other callbacks of the loop get their turn. */
const EVENTS_PER_TURN = 64;

/** The asynchronous events of one open device, and the objects that they are about. */
export class DeviceEvents {
  readonly #context: Resource;
  readonly #handle: NativeHandle;
  readonly #descriptor: FdEvents;
  readonly #wakes = new WakeList();
  readonly #queue: AsyncEvent[] = [];
  readonly #elements = new WeakTable<object>();

  constructor(context: Resource, handle: NativeHandle) {
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
  }

  async *iterate(signal: AbortSignal | undefined): AsyncGenerator<AsyncEvent, void, undefined> {
    let handedOut = 0;
    while (!this.#context.closed) {
      signal?.throwIfAborted();
      if (this.#queue.length === 0) this.#drain();
      const event = this.#queue.shift();
      if (event !== undefined) {
        yield event;
        // What the program does about an event may raise the next one.
        if (++handedOut % EVENTS_PER_TURN === 0) await setImmediate();
        continue;
      }
      await this.#wakes.sleep(this.#descriptor, this.#context, signal).catch((error: unknown) => {
        if (!this.#context.closed) throw error;
      });
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

  #drain(): void {
    // Bounded: the rest makes the descriptor readable again.
    for (let count = 0; count < 64; count++) {
      const event = native.getAsyncEvent(this.#handle);
      if (typeof event === 'number') break;
      this.#queue.push(asyncEvent(...event, (id) => this.#elements.get(id)));
    }
    if (this.#queue.length !== 0) this.#wakes.wakeAll();
  }
}
