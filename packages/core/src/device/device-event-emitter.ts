import { EventEmitter } from 'node:events';
import { inspect, type InspectOptions } from 'node:util';
import type { EventType } from '../enums/index.js';
import type { AsyncEvent } from '../types/device.js';

/** The events of {@link Context.events}: each by its name, and all of them as 'event'. */
export type DeviceEventMap = Record<keyof typeof EventType | 'event', [event: AsyncEvent]>;

/** An emitter's own events, which need no event of the device. */
const OWN = new Set<string | symbol>(['newListener', 'removeListener']);

/**
 * The asynchronous events of a device as Node.js events. As long as it has a listener the context is not collected and
 * the process stays alive. There is no event 'error': a call that fails throws. A listener that throws
 * is an uncaught exception, as with every EventEmitter.
 */
export class DeviceEventEmitter extends EventEmitter<DeviceEventMap> {
  /** @internal Calls `used` when the first listener comes and when the last one goes. */
  constructor(used: (inUse: boolean) => void) {
    super();
    const plain = this as EventEmitter;
    plain.on('newListener', (name: string | symbol) => {
      if (!OWN.has(name) && !this.hasListeners) used(true);
    });
    plain.on('removeListener', (name: string | symbol) => {
      if (!OWN.has(name) && !this.hasListeners) used(false);
    });
  }

  /** Of one event, or of all. */
  override removeAllListeners(name?: keyof DeviceEventMap): this {
    const names = name === undefined ? (this as EventEmitter).eventNames() : [name];
    for (const each of names) if (!OWN.has(each)) super.removeAllListeners(each);
    return this;
  }

  /** Whether it has a listener. */
  get hasListeners(): boolean {
    return (this as EventEmitter).eventNames().some((name) => !OWN.has(name));
  }

  /** The number of listeners of each event, for `util.inspect` and `console.log`. */
  [inspect.custom](depth: number, options: InspectOptions = {}): string {
    const names = (this as EventEmitter).eventNames().filter((name) => !OWN.has(name));
    const counts = Object.fromEntries(names.map((name) => [name, (this as EventEmitter).listenerCount(name)]));
    return `DeviceEventEmitter ${inspect(counts, { ...options, depth })}`;
  }
}
