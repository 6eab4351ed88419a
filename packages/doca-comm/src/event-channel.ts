import { checked } from './errors.js';
import { native, type EndpointHandle } from './native.js';

/**
 * The attempts that wait for an endpoint's descriptor, in the order of their calls.
 *
 * One arming gives one event. So the channel is armed first, then every attempt is made again, and the attempts without
 * a result wait. For DOCA's own library, which may lose an event between a failed attempt and the arming, a slow timer backs
 * this up. The descriptor stays watched after the last attempt has succeeded, because the next one mostly follows soon; the watching
 * ends with the first event that finds no attempt.
 */
export class EventChannel {
  readonly #handle: EndpointHandle;
  readonly #channel: number;
  readonly #loses: boolean;
  readonly #attempts = new Set<() => boolean>();
  #watched = false;
  #timer: NodeJS.Timeout | undefined;

  /** `loses`: the library may lose an event. */
  constructor(handle: EndpointHandle, channel: number, loses: boolean) {
    this.#handle = handle;
    this.#channel = channel;
    this.#loses = loses;
  }

  get waiting(): boolean {
    return this.#attempts.size > 0;
  }

  /** Calls `attempt` now and after every event, until it returns true. It settles its own promise. */
  wait(attempt: () => boolean): void {
    const first = this.#attempts.size === 0;
    this.#attempts.add(attempt);
    if (first) this.#run();
  }

  leave(attempt: () => boolean): void {
    if (this.#attempts.delete(attempt) && this.#attempts.size === 0) native.rest(this.#handle, this.#channel);
  }

  /** Makes the attempts again, after a change that raises no event. */
  retry(): void {
    if (this.waiting) this.#run();
  }

  close(): void {
    this.#attempts.clear();
    this.#stopTimer();
  }

  #watch(): void {
    if (this.#watched) return;
    checked(
      native.watch(this.#handle, this.#channel, () => {
        if (this.#attempts.size === 0) native.disarm(this.#handle, this.#channel);
        else if (!this.#tryAll()) this.#run();
      }),
      'doca_comm_channel_ep_get_event_channel',
    );
    this.#watched = true;
  }

  #run(): void {
    this.#watch();
    checked(native.arm(this.#handle, this.#channel), 'doca_comm_channel_ep_event_handle_arm');
    if (this.#tryAll() || !this.#loses) return;
    this.#timer ??= setInterval(() => {
      if (this.#attempts.size > 0) this.#run();
      else this.#stopTimer();
    }, 500).unref();
  }

  /** Whether no attempt waits any more. */
  #tryAll(): boolean {
    for (const attempt of this.#attempts) {
      if (attempt()) this.#attempts.delete(attempt);
    }
    if (this.#attempts.size > 0) return false;
    native.rest(this.#handle, this.#channel);
    return true;
  }

  #stopTimer(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
