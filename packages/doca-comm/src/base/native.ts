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
export interface EngineHandle {
  readonly [handleBrand]: 'engine';
}
/** Of a server, a client, a consumer or a producer of Comch. */
export interface ContextHandle {
  readonly [handleBrand]: 'context';
}
export interface MmapHandle {
  readonly [handleBrand]: 'mmap';
}

/** Of `native.comchCapability()`; the last four are tests. */
export const ComchCapability = {
  NAME_LEN: 0,
  MSG_SIZE: 1,
  SEND_TASKS: 2,
  RECV_QUEUE_SIZE: 3,
  CLIENTS: 4,
  CONSUMER_TASKS: 5,
  CONSUMER_BUF_SIZE: 6,
  IMM_DATA_LEN: 7,
  PRODUCER_TASKS: 8,
  PRODUCER_BUF_SIZE: 9,
  SERVER: 10,
  CLIENT: 11,
  CONSUMER: 12,
  PRODUCER: 13,
} as const;

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
    nic: string,
  ): { handle: LibraryHandle; soft: boolean; reason?: never } | { handle?: never; reason: string };
  /** Adds the Comm Channel. `services`: it has the functions about a service's state, which came with DOCA 2.x. */
  openChannel(library: LibraryHandle, file: string): { services: boolean; reason?: never } | { reason: string };
  /** Adds Comch. `prefix` is that of its functions; `fastPath` says why it has no consumers and producers, else ''. */
  openComch(
    library: LibraryHandle,
    file: string,
  ): { prefix: string; fastPath: string; reason?: never } | { reason: string };
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

  /** An engine of Comch, of this thread. */
  createEngine(library: LibraryHandle): EngineHandle | number;
  destroyEngine(engine: EngineHandle): number;
  /**
   * `doca_pe_progress` until nothing happens, so many times at most, and until more than `backlog` bytes of events wait: how
   * often something happened. ready[0] becomes the number of contexts with events since the last call, their ids stand
   * behind it.
   */
  progress(engine: EngineHandle, times: number, backlog: number, ready: Uint32Array): number;
  /** Bytes of events that wait to be taken, of all its contexts. */
  engineBacklog(engine: EngineHandle): number;
  watchEngine(engine: EngineHandle, callback: () => void): number;
  armEngine(engine: EngineHandle): number;
  clearEngine(engine: EngineHandle): number;
  /** Whether the watched descriptor keeps Node's event loop alive. */
  holdEngine(engine: EngineHandle, held: boolean): void;
  /** The descriptor is not watched until the next arming. */
  restEngine(engine: EngineHandle): void;
  /** Blocks until the armed descriptor is readable, for so many milliseconds at most. */
  waitEngine(engine: EngineHandle, milliseconds: number): boolean;

  startContext(context: ContextHandle): number;
  stopContext(context: ContextHandle): number;
  destroyContext(context: ContextHandle): number;
  /** The addon stops and destroys it, in its own time. */
  abandonContext(context: ContextHandle): void;
  contextState(context: ContextHandle): number;
  /**
   * The kind of the oldest event, which is taken: its fields in `record`, its bytes in `bytes`. 0 without one. With too
   * little room for the bytes it stays, and the result is 0x100 more.
   */
  takeEvent(context: ContextHandle, record: Uint32Array, bytes: Uint8Array): number;

  comchCapability(device: DeviceHandle, which: number): number;
  createServer(
    engine: EngineHandle,
    device: DeviceHandle,
    representor: RepresentorHandle,
    name: string,
  ): CreatedContext | number;
  createClient(engine: EngineHandle, device: DeviceHandle, name: string): CreatedContext | number;
  comchSize(end: ContextHandle, which: number): number;
  setComchSize(end: ContextHandle, which: number, size: number): number;
  /** Copies the message. A `cookie` that is not 0 comes back with its completion; a failure is told always. */
  comchSend(end: ContextHandle, connection: number, message: Uint8Array, cookie: number, limit: number): number;
  comchDisconnect(server: ContextHandle, connection: number): number;
  comchUpdateInfo(end: ContextHandle, connection: number): number;
  /** As of the last `comchUpdateInfo`, and of the last moment of a connection that is gone. */
  comchCounters(end: ContextHandle, connection: number, out: BigUint64Array): number;
  /** Messages of all connections whose tasks have not completed. */
  comchInFlight(end: ContextHandle): number;
  /** Of a connection that is gone the counters are not needed any more. */
  comchForget(end: ContextHandle, connection: number): void;
  /** How many connections there are; the numbers of as many as fit into `out`. */
  comchConnections(end: ContextHandle, out: Uint32Array): number;

  /** Pages of the system. The buffer has them for good, also when the mmap is destroyed. */
  createMmap(
    device: DeviceHandle,
    length: number,
    permissions: number,
  ): { handle: MmapHandle; buffer: ArrayBuffer } | number;
  destroyMmap(mmap: MmapHandle): number;
  createConsumer(end: ContextHandle, connection: number, tasks: number, mmap: MmapHandle): CreatedContext | number;
  createProducer(end: ContextHandle, connection: number, tasks: number): CreatedContext | number;
  pathId(path: ContextHandle): number;
  postReceive(consumer: ContextHandle, offset: number, length: number, cookie: number): number;
  produce(
    producer: ContextHandle,
    mmap: MmapHandle,
    offset: number,
    length: number,
    immediate: Uint8Array | undefined,
    consumer: number,
    cookie: number,
  ): number;
}

export interface CreatedContext {
  handle: ContextHandle;
  /** Its number in the engine. */
  id: number;
}

export const native: Native = loadAddon({
  name: '@verbs/doca-comm',
  file: 'native/binding/build/Release/verbs_doca_comm.node',
  from: import.meta.url,
}) as Native;
