import type { DeviceHandle, RepresentorHandle } from './native.js';

/** A descriptor that an {@link EventChannel} watches. One `arm()` gives one call. */
export interface EventSource {
  /** The library may lose an event. */
  readonly loses: boolean;
  /** Sets what is called. To be called once. */
  watch(callback: () => void): void;
  /** The next event calls, and keeps Node's event loop alive until then. */
  arm(): void;
  /** It stays watched until the next `arm`, but does not keep the event loop alive. */
  rest(): void;
  disarm(): void;
}

/**
 * The end of a channel behind an {@link Endpoint}, in the terms of the Comm Channel, over either API of DOCA. The results are
 * those of the addon: a negative number is a DOCA error, negated. Peers are known by numbers, which are not used again.
 */
export interface End {
  /** The C function that such a call of the Comm Channel's stands for: 'recvfrom' is 'doca_comm_channel_ep_recvfrom'. */
  syscall(name: string): string;
  setDevice(device: DeviceHandle): number;
  setRepresentor(representor: RepresentorHandle): number;
  /** `which` is one of `Size`. */
  size(which: number): number;
  setSize(which: number, size: number): number;
  /** Bytes of a service's name, with the terminating NUL. */
  maxNameLength(): number;
  /** Why the last `listen` failed, in the model's words; empty if it has none. */
  lastError(): string;

  listen(name: string): number;
  /** The peer's number. */
  connect(name: string): number;
  /** The same without blocking. Until it is settled, no other call is made. */
  connectInBackground(name: string): Promise<number>;
  disconnect(peer: number): number;
  /** The number is no peer's from the call on. */
  disconnectInBackground(peer: number): Promise<number>;
  sendTo(message: Uint8Array, peer: number): number;
  /** The message's length; its sender's number in `from`, 0 if there is none. */
  recvFrom(buffer: Uint8Array, from: Uint32Array): number;

  updateInfo(peer: number): number;
  /** Messages and bytes sent, messages and bytes received, messages in flight, as of the last `updateInfo`. */
  statistics(peer: number, out: BigUint64Array): number;
  getUserData(peer: number): bigint | number;
  setUserData(peer: number, value: bigint): number;
  /** Undefined if the library has no such function. */
  updateService: (() => number) | undefined;
  peerList(): number[] | number;
  pendingConnections(): number;

  /** `channel` is one of `Channel`. */
  events(channel: number): EventSource;
  destroy(): number;
  destroyInBackground(): Promise<number>;
}
