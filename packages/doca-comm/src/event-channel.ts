import { checked } from './errors.js';
import { native, type EndpointHandle } from './native.js';

/**
 * Promises that wait for an endpoint's descriptor, in the order in which they came.
 *
 * One arming gives one event. So the channel is armed first, then everybody tries again, and only who still has nothing
 * waits. A slow timer backs it up: between a failed try and the arming a library may lose an event. Most who got
 * something wait again soon, so the watching goes on until the descriptor is readable for nobody.
 */
export class EventChannel {
  readonly #handle: EndpointHandle;
  readonly #channel: number;
  readonly #tries = new Set<() => boolean>();
  #watched = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(handle: EndpointHandle, channel: number) {
    this.#handle = handle;
    this.#channel = channel;
  }

  get waiting(): boolean {
    return this.#tries.size > 0;
  }

  /** Calls `attempt` now and after every event, until it gives true. It settles its own promise. */
  wait(attempt: () => boolean): void {
    const first = this.#tries.size === 0;
    this.#tries.add(attempt);
    if (first) this.#run();
  }

  leave(attempt: () => boolean): void {
    if (this.#tries.delete(attempt) && this.#tries.size === 0) native.rest(this.#handle, this.#channel);
  }

  /** Something has changed that gives no event. */
  retry(): void {
    if (this.waiting) this.#run();
  }

  close(): void {
    this.#tries.clear();
    this.#stopTimer();
  }

  #watch(): void {
    if (this.#watched) return;
    checked(
      native.watch(this.#handle, this.#channel, () => {
        if (this.#tries.size === 0) native.disarm(this.#handle, this.#channel);
        else if (!this.#tryAll()) this.#run();
      }),
      'doca_comm_channel_ep_get_event_channel',
    );
    this.#watched = true;
  }

  #run(): void {
    this.#watch();
    checked(native.arm(this.#handle, this.#channel), 'doca_comm_channel_ep_event_handle_arm');
    if (this.#tryAll()) return;
    this.#timer ??= setInterval(() => {
      if (this.#tries.size > 0) this.#run();
      else this.#stopTimer();
    }, 500).unref();
  }

  /** Whether nobody waits any more. */
  #tryAll(): boolean {
    for (const attempt of this.#tries) {
      if (attempt()) this.#tries.delete(attempt);
    }
    if (this.#tries.size > 0) return false;
    native.rest(this.#handle, this.#channel);
    return true;
  }

  #stopTimer(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
