import {
  loadProviderAddon,
  type NativeHandle,
  type NativeLibrary as Libibverbs,
  type NativeQp,
  type NativeQpAttr,
  type OpenedLibrary,
} from '@verbs/core/provider';

declare const libraryBrand: unique symbol;

/** A loaded librdmacm. */
export interface NativeLibrary {
  readonly [libraryBrand]: 'librdmacm';
}

export interface NativeAddress {
  family: 4 | 6;
  address: string;
  port: number;
  flowInfo?: number;
  scopeId?: number;
}

export interface NativeConnParam {
  privateData: Uint8Array | undefined;
  responderResources: number;
  initiatorDepth: number;
  flowControl: number;
  retryCount: number;
  rnrRetryCount: number;
  srq: number;
  qpNum: number;
}

/** An identifier that the addon made, and the number by which events name it. */
export interface NativeId {
  handle: NativeHandle;
  key: number;
}

export interface NativeEvent {
  event: number;
  status: number;
  id: number;
  listenId: number;
  made?: NativeId;
  conn?: NativeConnParam;
  arg?: bigint;
  ud?: { privateData: Uint8Array | undefined; attr: NativeQpAttr; qpNum: number; qkey: number };
}

export interface NativePath {
  dgid: Uint8Array;
  sgid: Uint8Array;
  dlid: number;
  slid: number;
  flowLabel: number;
  hopLimit: number;
  trafficClass: number;
  pkey: number;
  sl: number;
  mtu: number;
  rate: number;
  packetLifeTime: number;
}

export interface NativeIdState {
  ps: number;
  qpType: number;
  portNum: number;
  srcPort: number;
  dstPort: number;
  localAddr: NativeAddress | undefined;
  peerAddr: NativeAddress | undefined;
  sgid: Uint8Array;
  dgid: Uint8Array;
  pkey: number;
  paths: NativePath[];
}

export interface NativeContext {
  key: number;
  device: string;
  handle?: NativeHandle;
}

export interface NativeAddrInfo {
  flags: number;
  family: number;
  qpType: number;
  portSpace: number;
  srcAddr: NativeAddress | undefined;
  dstAddr: NativeAddress | undefined;
  srcCanonname?: string;
  dstCanonname?: string;
}

/**
 * The addon: one function for each function of librdmacm. Where a number stands beside a result, a negative one is the
 * errno of the failed call.
 */
export interface Native {
  setUp(coreApi: object): number;
  openLibrary(name: string): OpenedLibrary<NativeLibrary>;
  attachModel(library: NativeLibrary, libibverbs: Libibverbs): number;
  eventStr(library: NativeLibrary, event: number): string;
  getDevices(library: NativeLibrary, libibverbs: Libibverbs): Required<NativeContext>[] | number;
  getaddrinfo(
    library: NativeLibrary,
    node: string | undefined,
    service: string | undefined,
    hints: object,
  ): Promise<NativeAddrInfo[] | { result: number; errno: number }>;

  createEventChannel(library: NativeLibrary): { handle: NativeHandle; fd: number } | number;
  watchChannel(channel: NativeHandle, callback: () => void): number;
  refChannel(channel: NativeHandle, alive: boolean): void;
  pauseChannel(channel: NativeHandle, paused: boolean): number;
  getCmEvent(channel: NativeHandle): NativeEvent | number;
  writeCmEvent(id: NativeHandle, status: number, arg: bigint): number;

  createId(channel: NativeHandle, portSpace: number): NativeId | number;
  contextOf(id: NativeHandle, libibverbs: Libibverbs | undefined): NativeContext | undefined;
  queryId(id: NativeHandle): NativeIdState;
  bindAddr(id: NativeHandle, address: NativeAddress): number;
  resolveAddr(
    id: NativeHandle,
    source: NativeAddress | undefined,
    destination: NativeAddress,
    timeoutMs: number,
  ): number;
  resolveRoute(id: NativeHandle, timeoutMs: number): number;
  /** `node` is an address: with a name the thread waits for the name server. */
  resolveAddrinfo(id: NativeHandle, node: string | undefined, service: string | undefined, hints: object): number;
  queryAddrinfo(id: NativeHandle): NativeAddrInfo[] | number;
  setOption(id: NativeHandle, level: number, name: number, value: Uint8Array): number;
  migrateId(id: NativeHandle, channel: NativeHandle): number;

  listen(id: NativeHandle, backlog: number): number;
  connect(id: NativeHandle, param: NativeConnParam | undefined): number;
  accept(id: NativeHandle, param: NativeConnParam | undefined): number;
  reject(id: NativeHandle, privateData: Uint8Array | undefined): number;
  rejectEce(id: NativeHandle, privateData: Uint8Array | undefined): number;
  disconnect(id: NativeHandle): number;
  establish(id: NativeHandle): number;
  notify(id: NativeHandle, event: number): number;
  setLocalEce(id: NativeHandle, vendorId: number, options: number): number;
  getRemoteEce(id: NativeHandle): { vendorId: number; options: number } | number;

  createQp(id: NativeHandle, attr: object): NativeQp | number;
  initQpAttr(id: NativeHandle, qpState: number): { attr: NativeQpAttr; mask: number } | number;
  joinMulticast(id: NativeHandle, address: NativeAddress, joinFlags: number | undefined): number;
  leaveMulticast(id: NativeHandle, address: NativeAddress): number;
}

export const native: Native = loadProviderAddon({
  name: '@verbs/rdmacm',
  file: 'native/binding/build/Release/verbs_rdmacm.node',
  from: import.meta.url,
}) as Native;
