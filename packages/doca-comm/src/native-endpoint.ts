import { Spin, validate } from '@verbs/core/provider';

import { checked, DocaError, DocaStatus } from './errors.js';
import { EventChannel } from './event-channel.js';
import { anyLibrary, type Library } from './libraries.js';
import { native, type EndpointHandle } from './native.js';

const U16 = 0xffff;

/** The C endpoint (`doca_comm_channel_ep_t`) behind an {@link Endpoint}. The first use creates it: a device tells the library. */
export class NativeEndpoint {
  #created: { handle: EndpointHandle; library: Library } | undefined;
  #closed = false;
  readonly #background = new Set<Promise<unknown>>();
  #connecting = false;

  /** The loaded libraries; undefined before the first use. */
  get library(): Library | undefined {
    return this.#created?.library;
  }

  /**
   * The handle, for the function of that name.
   *
   * @param library the libraries of the object that goes with it
   * @throws DocaError NOT_CONNECTED after `close()`, CONNECTION_INPROGRESS while it connects in the background,
   * INVALID_VALUE for an object of other libraries
   */
  use(name: string, library?: Library): EndpointHandle {
    const syscall = `doca_comm_channel_ep_${name}`;
    if (this.#closed) throw new DocaError(DocaStatus.NOT_CONNECTED, syscall, 'the endpoint is closed');
    if (this.#connecting) {
      throw new DocaError(DocaStatus.CONNECTION_INPROGRESS, syscall, 'wait until connectAsync() is settled');
    }
    if (this.#created === undefined) {
      const chosen = library ?? anyLibrary();
      const handle = native.createEndpoint(chosen.handle);
      this.#created = { handle: checked<EndpointHandle>(handle, 'doca_comm_channel_ep_create'), library: chosen };
    } else if (library !== undefined && library !== this.#created.library) {
      const own = this.#created.library.kind;
      const hint = `the endpoint belongs to the ${own} libraries, the device to the ${library.kind} ones`;
      throw new DocaError(DocaStatus.INVALID_VALUE, syscall, hint);
    }
    return this.#created.handle;
  }

  /** `doca_comm_channel_ep_get_event_channel`. Its waits poll for `spin` microseconds before they sleep. */
  events(channel: number, spin: number): EventChannel {
    const handle = this.use('get_event_channel');
    return new EventChannel(handle, channel, { loses: this.library?.kind === 'system', spin: new Spin(spin) });
  }

  /** `doca_comm_channel_ep_get_max_msg_size` and its like. */
  size(which: number, name: string): number {
    return checked(native.getSize(this.use(`get_${name}`), which), `doca_comm_channel_ep_get_${name}`);
  }

  /** `doca_comm_channel_ep_set_max_msg_size` and its like; `path` is the property's name. */
  setSize(which: number, name: string, path: string, size: number): void {
    validate.integer(size, path, 0, U16);
    const hint = `the device's maximum is less than ${path} ${size}, or the endpoint is active already`;
    checked(native.setSize(this.use(`set_${name}`), which, size), `doca_comm_channel_ep_set_${name}`, hint);
  }

  /** Bytes of a service's name, with the terminating NUL; 0 before the first use. */
  maxNameLength(): number {
    return this.#created === undefined ? 0 : native.maxServiceNameLen(this.#created.library.handle);
  }

  /** Why the last `listen` failed, where the library says more than its code; else empty. */
  lastError(): string {
    return this.#created === undefined ? '' : native.lastError(this.#created.library.handle);
  }

  /** No use after this. `destroy` follows, once the JavaScript side has let go of the handle. */
  close(): void {
    this.#closed = true;
  }

  /** `doca_comm_channel_ep_connect` on another thread: the peer's number. When the caller gave up, it is undone. */
  async connect(name: string, gaveUp: () => boolean): Promise<number> {
    // One that was given up may still be on its way.
    while (this.#connecting) await Promise.allSettled(this.#background);
    const handle = this.use('connect');
    const connect = async () => {
      try {
        const number = await native.connectInBackground(handle, name);
        if (number > 0 && gaveUp()) await native.disconnectInBackground(handle, number);
        return number;
      } finally {
        this.#connecting = false;
      }
    };
    this.#connecting = true;
    return this.#track(connect());
  }

  /** `doca_comm_channel_ep_disconnect` on another thread; the number is no longer known at once. */
  disconnect(handle: EndpointHandle, number: number): Promise<number> {
    return this.#track(native.disconnectInBackground(handle, number));
  }

  /** `doca_comm_channel_ep_destroy` on another thread, after the calls that still run. */
  async destroyAsync(): Promise<void> {
    await this.settled();
    if (this.#created === undefined) return;
    checked(await native.destroyInBackground(this.#created.handle), 'doca_comm_channel_ep_destroy');
  }

  /** When the calls on other threads have ended. What `destroy` left to them is freed then. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#background);
  }

  #track<T>(call: Promise<T>): Promise<T> {
    this.#background.add(call);
    const done = () => this.#background.delete(call);
    call.then(done, done);
    return call;
  }

  /** `doca_comm_channel_ep_destroy`. */
  destroy(): void {
    if (this.#created !== undefined) {
      checked(native.destroyEndpoint(this.#created.handle), 'doca_comm_channel_ep_destroy');
    }
  }
}
