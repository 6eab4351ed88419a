import { validate } from '@verbs/core/provider';

import { checked, DocaError, DocaStatus } from './errors.js';
import { anyLibrary, type Library } from './libraries.js';
import { native, type EndpointHandle } from './native.js';

const U16 = 0xffff;

/** The C endpoint (`doca_comm_channel_ep_t`) behind an {@link Endpoint}. The first use creates it: a device tells the library. */
export class NativeEndpoint {
  #created: { handle: EndpointHandle; library: Library } | undefined;
  #closed = false;

  /** The loaded libraries; undefined before the first use. */
  get library(): Library | undefined {
    return this.#created?.library;
  }

  /**
   * The handle, for the function of that name.
   *
   * @param library the libraries of the object that goes with it
   * @throws DocaError NOT_CONNECTED after `close()`, INVALID_VALUE for an object of other libraries
   */
  use(name: string, library?: Library): EndpointHandle {
    const syscall = `doca_comm_channel_ep_${name}`;
    if (this.#closed) throw new DocaError(DocaStatus.NOT_CONNECTED, syscall, 'the endpoint is closed');
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

  /** No use after this. `destroy` follows, once the JavaScript side has let go of the handle. */
  close(): void {
    this.#closed = true;
  }

  /** `doca_comm_channel_ep_destroy`. */
  destroy(): void {
    if (this.#created !== undefined) {
      checked(native.destroyEndpoint(this.#created.handle), 'doca_comm_channel_ep_destroy');
    }
  }
}
