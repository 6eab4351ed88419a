import { Spin, validate } from '@verbs/core/provider';

import { ChannelEnd } from './channel-end.js';
import { ComchEnd } from '../comch/comch-end.js';
import type { End } from '../base/end.js';
import { checked, DocaError, DocaStatus } from '../base/errors.js';
import { EventChannel } from '../base/event-channel.js';
import { type Api, anyLibrary, type Library } from '../base/libraries.js';

const U16 = 0xffff;

/** What an end belongs to: the libraries, and one of their APIs. */
interface Origin {
  library: Library;
  api: Api;
}

/** The C objects behind an {@link Endpoint}. The first use creates them: a device tells the library and its API. */
export class NativeEndpoint {
  #created: { end: End; library: Library; api: Api } | undefined;
  #closed = false;
  readonly #background = new Set<Promise<unknown>>();
  #connecting = false;

  /** The C function that a call of that name is made by; the Comm Channel's before the first use. */
  syscall(name: string): string {
    return this.#created?.end.syscall(name) ?? `doca_comm_channel_ep_${name}`;
  }

  /**
   * The end, for the function of that name.
   *
   * @param origin of the object that goes with it
   * @throws DocaError NOT_CONNECTED after `close()`, CONNECTION_INPROGRESS while it connects in the background,
   * INVALID_VALUE for an object of other libraries or of the other API
   */
  use(name: string, origin?: Origin): End {
    if (this.#closed) throw new DocaError(DocaStatus.NOT_CONNECTED, this.syscall(name), 'the endpoint is closed');
    if (this.#connecting) {
      throw new DocaError(DocaStatus.CONNECTION_INPROGRESS, this.syscall(name), 'wait until connectAsync() is settled');
    }
    if (this.#created === undefined) {
      const { library, api } = origin ?? anyLibrary();
      const end = api === 'comch' ? new ComchEnd(library) : new ChannelEnd(library);
      this.#created = { end, library, api };
    } else if (origin !== undefined) {
      const { library, api } = this.#created;
      const [own, other] = [`${library.kind} libraries by ${api}`, `${origin.library.kind} ones by ${origin.api}`];
      if (own !== other.replace('ones', 'libraries')) {
        const hint = `the endpoint belongs to the ${own}, the device to the ${other}`;
        throw new DocaError(DocaStatus.INVALID_VALUE, this.syscall(name), hint);
      }
    }
    return this.#created.end;
  }

  /** What waits for events of that kind, one of `Channel`. Waits poll for `spin` microseconds before they sleep. */
  events(channel: number, spin: number): EventChannel {
    return new EventChannel(this.use('get_event_channel').events(channel), new Spin(spin));
  }

  /** `doca_comm_channel_ep_get_max_msg_size` and its like. */
  size(which: number, name: string): number {
    return checked(this.use(`get_${name}`).size(which), this.syscall(`get_${name}`));
  }

  /** `doca_comm_channel_ep_set_max_msg_size` and its like; `path` is the property's name. */
  setSize(which: number, name: string, path: string, size: number): void {
    validate.integer(size, path, 0, U16);
    const hint = `the device's maximum is less than ${path} ${size}, or the endpoint is active already`;
    checked(this.use(`set_${name}`).setSize(which, size), this.syscall(`set_${name}`), hint);
  }

  /** Bytes of a service's name, with the terminating NUL; 0 before the first use. */
  maxNameLength(): number {
    return this.#created?.end.maxNameLength() ?? 0;
  }

  /** Why the last `listen` failed, where the library says more than its code; else empty. */
  lastError(): string {
    return this.#created?.end.lastError() ?? '';
  }

  /** No use after this. `destroy` follows, once the JavaScript side has let go of the handle. */
  close(): void {
    this.#closed = true;
  }

  /** Connects without blocking: the peer's number. When the caller gave up, it is undone. */
  async connect(name: string, gaveUp: () => boolean): Promise<number> {
    // One that was given up may still be on its way.
    while (this.#connecting) await Promise.allSettled(this.#background);
    const end = this.use('connect');
    const connect = async () => {
      try {
        const number = await end.connectInBackground(name);
        if (number > 0 && gaveUp()) await end.disconnectInBackground(number);
        return number;
      } finally {
        this.#connecting = false;
      }
    };
    this.#connecting = true;
    return this.#track(connect());
  }

  /** Disconnects without blocking; the number is no longer known at once. */
  disconnect(number: number): Promise<number> {
    return this.#track(this.use('disconnect').disconnectInBackground(number));
  }

  /** Frees everything without blocking, after the calls that still run. */
  async destroyAsync(): Promise<void> {
    await this.settled();
    if (this.#created === undefined) return;
    checked(await this.#created.end.destroyInBackground(), this.syscall('destroy'));
  }

  /** When the calls in the background have ended. What `destroy` left to them is freed then. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#background);
  }

  #track<T>(call: Promise<T>): Promise<T> {
    this.#background.add(call);
    const done = () => this.#background.delete(call);
    call.then(done, done);
    return call;
  }

  /** Frees everything. */
  destroy(): void {
    if (this.#created !== undefined) checked(this.#created.end.destroy(), this.syscall('destroy'));
  }
}
