import type { End, EventSource } from '../base/end.js';
import { checked } from '../base/errors.js';
import type { Library } from '../base/libraries.js';
import { type DeviceHandle, type EndpointHandle, native, type RepresentorHandle } from '../base/native.js';

/** An end over the Comm Channel: `doca_comm_channel_ep_t`. */
export class ChannelEnd implements End {
  readonly #library: Library;
  readonly #handle: EndpointHandle;
  readonly updateService: (() => number) | undefined;

  /** `doca_comm_channel_ep_create`. */
  constructor(library: Library) {
    this.#library = library;
    this.#handle = checked<EndpointHandle>(native.createEndpoint(library.handle), this.syscall('create'));
    if (library.services) this.updateService = () => native.updateService(this.#handle);
  }

  syscall(name: string): string {
    return name.startsWith('peer_addr_') ? `doca_comm_channel_${name}` : `doca_comm_channel_ep_${name}`;
  }

  setDevice(device: DeviceHandle): number {
    return native.setDevice(this.#handle, device);
  }
  setRepresentor(representor: RepresentorHandle): number {
    return native.setRepresentor(this.#handle, representor);
  }
  size(which: number): number {
    return native.getSize(this.#handle, which);
  }
  setSize(which: number, size: number): number {
    return native.setSize(this.#handle, which, size);
  }
  maxNameLength(): number {
    return native.maxServiceNameLen(this.#library.handle);
  }
  lastError(): string {
    return native.lastError(this.#library.handle);
  }

  listen(name: string): number {
    return native.listen(this.#handle, name);
  }
  connect(name: string): number {
    return native.connect(this.#handle, name);
  }
  connectInBackground(name: string): Promise<number> {
    return native.connectInBackground(this.#handle, name);
  }
  disconnect(peer: number): number {
    return native.disconnect(this.#handle, peer);
  }
  disconnectInBackground(peer: number): Promise<number> {
    return native.disconnectInBackground(this.#handle, peer);
  }
  sendTo(message: Uint8Array, peer: number): number {
    return native.sendTo(this.#handle, message, peer);
  }
  recvFrom(buffer: Uint8Array, from: Uint32Array): number {
    return native.recvFrom(this.#handle, buffer, from);
  }

  updateInfo(peer: number): number {
    return native.updateInfo(this.#handle, peer);
  }
  statistics(peer: number, out: BigUint64Array): number {
    return native.statistics(this.#handle, peer, out);
  }
  getUserData(peer: number): bigint | number {
    return native.getUserData(this.#handle, peer);
  }
  setUserData(peer: number, value: bigint): number {
    return native.setUserData(this.#handle, peer, value);
  }
  peerList(): number[] | number {
    return native.peerList(this.#handle);
  }
  pendingConnections(): number {
    return native.pendingConnections(this.#handle);
  }

  /** `doca_comm_channel_ep_get_event_channel`. The model loses no event. */
  events(channel: number): EventSource {
    const handle = this.#handle;
    return {
      loses: this.#library.kind === 'system',
      watch: (callback) => {
        checked(native.watch(handle, channel, callback), 'doca_comm_channel_ep_get_event_channel');
      },
      arm: () => {
        checked(native.arm(handle, channel), 'doca_comm_channel_ep_event_handle_arm');
      },
      rest: () => {
        native.rest(handle, channel);
      },
      disarm: () => {
        native.disarm(handle, channel);
      },
    };
  }
  destroy(): number {
    return native.destroyEndpoint(this.#handle);
  }
  destroyInBackground(): Promise<number> {
    return native.destroyInBackground(this.#handle);
  }
}
