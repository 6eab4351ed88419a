import { loadAddon } from '@verbs/core/provider';

declare const handleBrand: unique symbol;

/** Type-tagged Externals: only the addon makes and reads them. */
export interface LibraryHandle {
  readonly [handleBrand]: 'library';
}
export interface DeviceHandle {
  readonly [handleBrand]: 'device';
}
export interface RepresentorHandle {
  readonly [handleBrand]: 'representor';
}
export interface EndpointHandle {
  readonly [handleBrand]: 'endpoint';
}

export const Size = { MESSAGE: 0, SEND_QUEUE: 1, RECV_QUEUE: 2, CONNECTIONS: 3 } as const;
export const Channel = { SEND: 0, RECV: 1, SERVICE: 2 } as const;

export interface NativeDeviceInfo {
  pciAddr: string;
  ibdevName: string;
  ifaceName: string;
  hasRepresentors: boolean;
}

export interface NativeRepresentorInfo {
  pciAddr: string;
  vuid: string;
}

/** The addon: one function for each function of DOCA. A negative number in the result is a DOCA error, negated. */
export interface Native {
  /** The file and the version ('' if it tells none) of a library of DOCA or the model, if the loader finds one of that name. */
  describe(name: string): { file: string; version: string; soft: boolean } | undefined;
  openLibrary(
    common: string,
    channel: string,
    nic: string,
  ): { handle: LibraryHandle; soft: boolean; services: boolean; reason?: never } | { handle?: never; reason: string };
  setFaults(library: LibraryHandle, plan: string | null): number;
  /** Why the last `listen` failed, in the model's words; empty if it has none. */
  lastError(library: LibraryHandle): string;

  listDevices(library: LibraryHandle): NativeDeviceInfo[] | number;
  openDevice(library: LibraryHandle, pciAddr: string, ibdevName: string): DeviceHandle | number;
  closeDevice(device: DeviceHandle): number;
  listRepresentors(device: DeviceHandle, filter: number): NativeRepresentorInfo[] | number;
  openRepresentor(device: DeviceHandle, filter: number, pciAddr: string): RepresentorHandle | number;
  closeRepresentor(representor: RepresentorHandle): number;
  maxServiceNameLen(library: LibraryHandle): number;
  capability(device: DeviceHandle, which: number): number;

  createEndpoint(library: LibraryHandle): EndpointHandle | number;
  destroyEndpoint(endpoint: EndpointHandle): number;
  /** The calls in the background run on a thread of libuv's pool. */
  destroyInBackground(endpoint: EndpointHandle): Promise<number>;
  getSize(endpoint: EndpointHandle, which: number): number;
  setSize(endpoint: EndpointHandle, which: number, size: number): number;
  setDevice(endpoint: EndpointHandle, device: DeviceHandle): number;
  setRepresentor(endpoint: EndpointHandle, representor: RepresentorHandle): number;
  listen(endpoint: EndpointHandle, name: string): number;
  watch(endpoint: EndpointHandle, channel: number, callback: () => void): number;
  arm(endpoint: EndpointHandle, channel: number): number;
  /** The descriptor stays watched until the next `arm`, but does not keep Node's event loop alive. */
  rest(endpoint: EndpointHandle, channel: number): void;
  disarm(endpoint: EndpointHandle, channel: number): void;

  connect(endpoint: EndpointHandle, name: string): number;
  /** Until it is settled, other calls of the endpoint are INVALID_VALUE. */
  connectInBackground(endpoint: EndpointHandle, name: string): Promise<number>;
  disconnect(endpoint: EndpointHandle, peer: number): number;
  disconnectInBackground(endpoint: EndpointHandle, peer: number): Promise<number>;
  sendTo(endpoint: EndpointHandle, message: Uint8Array, peer: number): number;
  recvFrom(endpoint: EndpointHandle, buffer: Uint8Array, from: Uint32Array): number;
  updateInfo(endpoint: EndpointHandle, peer: number): number;
  statistics(endpoint: EndpointHandle, peer: number, out: BigUint64Array): number;
  getUserData(endpoint: EndpointHandle, peer: number): bigint | number;
  setUserData(endpoint: EndpointHandle, peer: number, value: bigint): number;
  updateService(endpoint: EndpointHandle): number;
  peerList(endpoint: EndpointHandle): number[] | number;
  pendingConnections(endpoint: EndpointHandle): number;
}

export const native: Native = loadAddon({
  name: '@verbs/doca-comm',
  file: 'native/binding/build/Release/verbs_doca_comm.node',
  from: import.meta.url,
}) as Native;
