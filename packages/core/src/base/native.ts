import type { DeviceAttr, DeviceAttrEx, PortAttr } from '../types/device.js';
import { loadAddon } from './addon.js';

declare const handleBrand: unique symbol;

/** @internal A type-tagged External around a native object. Only the addon can make or open one. */
export interface NativeHandle {
  readonly [handleBrand]: 'object';
}

/** @internal A loaded libibverbs. */
export interface NativeLibrary {
  readonly [handleBrand]: 'library';
}

export interface NativeDevice {
  name: string;
  guid: bigint;
  nodeType: number;
  transportType: number;
  devName: string;
  devPath: string;
  ibdevPath: string;
  index: number;
}

/** @internal A registered memory region. */
export interface NativeRegion {
  handle: NativeHandle;
  id: number;
  /** The argument of importMr. */
  mrHandle: number;
  addr: bigint;
  lkey: number;
  rkey: number;
}

export interface NativeCap {
  maxSendWr: number;
  maxRecvWr: number;
  maxSendSge: number;
  maxRecvSge: number;
  maxInlineData: number;
}

export interface NativeAhAttr {
  dlid: number;
  sl: number;
  srcPathBits: number;
  staticRate: number;
  isGlobal: boolean;
  portNum: number;
  grh?: {
    dgid: Uint8Array;
    flowLabel: number;
    sgidIndex: number;
    hopLimit: number;
    trafficClass: number;
  };
}

export interface NativeGidEntry {
  gid: Uint8Array;
  gidIndex: number;
  portNum: number;
  gidType: number;
  ndevIfindex: number;
}

/** The fields of a completion that give the address of a peer. Without a routing header it is undefined. */
export interface NativeReceived {
  slid: number;
  sl: number;
  dlidPathBits: number;
  srcQp: number;
  wcFlags: number;
  pkeyIndex: number;
}

export interface NativeQpInit {
  pd?: NativeHandle;
  sendCq?: NativeHandle;
  recvCq?: NativeHandle;
  srq?: NativeHandle;
  xrcd?: NativeHandle;
  rwqIndTbl?: NativeHandle;
  qpType: number;
  sqSigAll: boolean;
  cap: NativeCap;
  createFlags?: number;
  maxTsoHeader?: number;
  sourceQpn?: number;
  sendOpsFlags?: bigint;
  rxHashConf?: { function: number; key: Uint8Array; fields: bigint };
}

/** @internal A queue pair. */
export interface NativeQp {
  handle: NativeHandle;
  id: number;
  qpNum: number;
  cap: NativeCap;
}

export interface NativeFlowSpec {
  type: number;
  val?: Uint8Array;
  mask?: Uint8Array;
  tagId?: number;
  counters?: NativeHandle;
}

/** The fields that are plain numbers in both directions, by their names in `struct ibv_qp_attr`. */
export type NativeQpAttr = Record<string, number | NativeCap | NativeAhAttr>;

/**
 * @internal
 * The addon: one function for each function of libibverbs. Where a result may also be a number, a
 * negative one is the errno of the failed C call.
 */
export interface Native {
  /** With a prefix: a vendor's build of libibverbs, whose functions have that in front of their names. */
  openLibrary(
    name: string,
    prefix?: string,
  ): { handle: NativeLibrary; soft: boolean; file: string; reason?: never } | { handle?: never; reason: string };
  getDeviceList(library: NativeLibrary): NativeDevice[] | number;
  openDevice(library: NativeLibrary, name: string): NativeHandle | number;
  readSysfsFile(library: NativeLibrary, directory: string, file: string): string | number;
  importDevice(library: NativeLibrary, fd: number, name: string): NativeHandle | number;
  wcStatusText(library: NativeLibrary, status: number): string;
  eventTypeText(library: NativeLibrary, type: number): string;
  nodeTypeText(library: NativeLibrary, type: number): string;
  portStateText(library: NativeLibrary, state: number): string;
  wrOpcodeText(library: NativeLibrary, opcode: number): string | undefined;
  rateToMult(library: NativeLibrary, rate: number): number;
  multToRate(library: NativeLibrary, multiple: number): number;
  rateToMbps(library: NativeLibrary, rate: number): number;
  mbpsToRate(library: NativeLibrary, mbps: number): number;
  forkInit(library: NativeLibrary): number;
  isForkInitialized(library: NativeLibrary): number;

  /** Of the object or of the child that was not destroyed; `syscall` is '' for a child of a provider. */
  close(handle: NativeHandle): { errno: number; syscall: string } | undefined;
  isOpen(handle: NativeHandle): boolean;
  /** True once for each handle. */
  claim(handle: NativeHandle, syscall: string): boolean;

  queryDevice(context: NativeHandle): DeviceAttr | number;
  queryDeviceEx(context: NativeHandle): DeviceAttrEx | number;
  queryPort(context: NativeHandle, portNum: number): PortAttr | number;
  /** What the software NIC knows beyond the status of a failed request; undefined on hardware. */
  softWhy(context: NativeHandle, qpNum: number, status: number): string | undefined;
  queryGid(context: NativeHandle, portNum: number, index: number): Uint8Array | number;
  queryPkey(context: NativeHandle, portNum: number, index: number): number;
  queryGidTable(context: NativeHandle, room: number): NativeGidEntry[] | number;
  queryGidEx(context: NativeHandle, portNum: number, index: number): NativeGidEntry | number;
  getPkeyIndex(context: NativeHandle, portNum: number, pkey: number): number;
  /** Bytes of the longest IP packet on the way between two addresses. */
  routeMtu(source: string, destination: string): number;
  queryRtValues(context: NativeHandle): bigint | number;
  queryPortSpeed(context: NativeHandle, portNum: number): bigint | number;
  numCompVectors(context: NativeHandle): number;
  cmdFd(context: NativeHandle): number;
  getAsyncEvent(context: NativeHandle): [type: number, element: number] | number;
  watchAsync(context: NativeHandle, callback: () => void): number;
  refAsync(context: NativeHandle, ref: boolean): void;

  allocPd(context: NativeHandle): NativeHandle | number;
  allocTd(context: NativeHandle): NativeHandle | number;
  allocParentDomain(pd: NativeHandle, td: NativeHandle | undefined, unprotected: boolean): NativeHandle | number;
  importPd(context: NativeHandle, pdHandle: number): NativeHandle | number;
  pdHandle(pd: NativeHandle): number;
  openXrcd(context: NativeHandle, fd: number, exclusive: boolean): NativeHandle | number;
  allocMr(
    pd: NativeHandle,
    length: number,
    access: number,
    iova: bigint | undefined,
    shared: boolean,
  ): (NativeRegion & { buffer: ArrayBuffer }) | number | undefined;
  regMr(pd: NativeHandle, view: Uint8Array, access: number, iova: bigint | undefined): NativeRegion | number;
  /** On failure: whether the region can be used, the errno, and the region if it has changed all the same. */
  reregMr(
    mr: NativeHandle,
    flags: number,
    pd: NativeHandle | undefined,
    view: Uint8Array | undefined,
    access: number | undefined,
  ): NativeRegion | number | [valid: boolean, errno: number, region: NativeRegion | undefined];
  nullMr(pd: NativeHandle): NativeRegion | number;
  regDmMr(pd: NativeHandle, dm: NativeHandle, offset: number, length: number, access: number): NativeRegion | number;
  regDmabufMr(
    pd: NativeHandle,
    offset: number,
    length: number,
    iova: bigint,
    fd: number,
    access: number,
  ): NativeRegion | number;
  regBufMr(pd: NativeHandle, buf: NativeHandle, offset: number, length: number, access: number): NativeRegion | number;
  /** `memory` is one of `{ view }`, `{ buf, offset, length }` and `{ fd, offset, length }`. */
  regMrEx(
    pd: NativeHandle,
    access: number,
    memory: object,
    iova: bigint | undefined,
    dmah: NativeHandle | undefined,
  ): NativeRegion | number;
  allocBuf(pd: NativeHandle, length: number): NativeHandle | number;
  copyToBuf(buf: NativeHandle, offset: number, from: Uint8Array): number;
  copyFromBuf(buf: NativeHandle, offset: number, to: Uint8Array): number;
  /** A descriptor. */
  exportBufFd(buf: NativeHandle): number;
  allocDmah(
    context: NativeHandle,
    cpuId: number | undefined,
    ph: number | undefined,
    tphMemType: number | undefined,
  ): NativeHandle | number;
  importMr(pd: NativeHandle, mrHandle: number, addr: bigint): (NativeRegion & { length: number }) | number;
  adviseMr(
    pd: NativeHandle,
    advice: number,
    flags: number,
    elements: [mr: NativeHandle, offset: number, length: number][],
  ): number;
  allocDm(
    context: NativeHandle,
    length: number,
    logAlignment: number,
  ): { handle: NativeHandle; dmHandle: number } | number;
  importDm(
    context: NativeHandle,
    dmHandle: number,
    length: number,
  ): { handle: NativeHandle; dmHandle: number } | number;
  copyToDm(dm: NativeHandle, offset: number, from: Uint8Array): number;
  copyFromDm(dm: NativeHandle, offset: number, to: Uint8Array): number;
  /** A descriptor. */
  exportDmFd(dm: NativeHandle): number;
  allocMw(pd: NativeHandle, type: number): { handle: NativeHandle; id: number; rkey: number } | number;
  mwRkey(mw: NativeHandle): number;
  isBlock(view: Uint8Array): boolean;
  createAh(pd: NativeHandle, attr: NativeAhAttr): { handle: NativeHandle; id: number } | number;
  createAhFromWc(
    pd: NativeHandle,
    wc: NativeReceived,
    grh: Uint8Array | undefined,
    portNum: number,
  ): { handle: NativeHandle; id: number } | number;
  initAhFromWc(
    context: NativeHandle,
    portNum: number,
    wc: NativeReceived,
    grh: Uint8Array | undefined,
  ): Required<NativeAhAttr> | number;
  resolveEthL2FromGid(context: NativeHandle, attr: NativeAhAttr): { mac: Uint8Array; vlanId: number } | number;

  createCompChannel(context: NativeHandle): NativeHandle | number;
  channelFd(channel: NativeHandle): number;
  getCqEvent(channel: NativeHandle): number;
  watchChannel(channel: NativeHandle, callback: () => void): number;
  refChannel(channel: NativeHandle, ref: boolean): void;

  createCq(
    context: NativeHandle,
    cqe: number,
    channel: NativeHandle | undefined,
    compVector: number,
    extended: { wcFlags: bigint; flags: number; parentDomain?: NativeHandle } | undefined,
  ): { handle: NativeHandle; id: number; cqe: number } | number;
  resizeCq(cq: NativeHandle, cqe: number): number;
  modifyCq(cq: NativeHandle, count: number, period: number): number;
  reqNotify(cq: NativeHandle, solicitedOnly: boolean): number;
  poll(cq: NativeHandle, records: Uint8Array, count: number): number;

  createQp(init: NativeQpInit): NativeQp | number;
  openQp(xrcd: NativeHandle, qpNum: number, qpType: number): NativeQp | number;
  modifyQp(qp: NativeHandle, attr: NativeQpAttr, mask: number): number;
  queryQp(
    qp: NativeHandle,
    mask: number,
  ): { attr: NativeQpAttr; initAttr: { qpType: number; sqSigAll: boolean; cap: NativeCap } } | number;
  /** 0, the positive errno of the C library, or a negative PostError. */
  postSend(qp: NativeHandle, batch: Uint8Array, count: number): number;
  postRecv(qp: NativeHandle, batch: Uint8Array, count: number): number;
  /** The batch has one BIND_MW request. */
  bindMw(qp: NativeHandle, batch: Uint8Array, count: number): number;
  attachMcast(qp: NativeHandle, gid: Uint8Array, lid: number): number;
  detachMcast(qp: NativeHandle, gid: Uint8Array, lid: number): number;
  modifyQpRateLimit(qp: NativeHandle, rateLimit: number, maxBurstSz: number, typicalPktSz: number): number;
  queryEce(qp: NativeHandle): { vendorId: number; options: number } | number;
  setEce(qp: NativeHandle, vendorId: number, options: number): number;
  queryQpDataInOrder(qp: NativeHandle, opcode: number, flags: number): number;
  createFlow(
    qp: NativeHandle,
    attr: { flowType: number; priority: number; port: number; flags: number },
    specs: NativeFlowSpec[],
  ): NativeHandle | number;
  createCounters(context: NativeHandle): NativeHandle | number;
  attachCounters(counters: NativeHandle, description: number, index: number, flow: NativeHandle | undefined): number;
  readCounters(counters: NativeHandle, values: BigUint64Array, flags: number): number;

  queryCompCntrCaps(
    context: NativeHandle,
  ): { maxValue: bigint; maxCounters: number; supportedQpAttachOps: number } | number;
  createCompCntr(context: NativeHandle, type: number): NativeHandle | number;
  readCompCntr(counter: NativeHandle, errors: boolean): bigint | number;
  changeCompCntr(counter: NativeHandle, errors: boolean, adds: boolean, value: bigint): number;
  attachCompCntr(qp: NativeHandle, counter: NativeHandle, operations: number): number;

  createSrq(
    pd: NativeHandle,
    attr: { maxWr: number; maxSge: number; srqLimit: number; srqType: number; maxTags: number; maxOps: number },
    xrcd: NativeHandle | undefined,
    cq: NativeHandle | undefined,
  ): { handle: NativeHandle; id: number; maxWr: number; maxSge: number; srqNum?: number } | number;
  modifySrq(srq: NativeHandle, attr: { maxWr: number; srqLimit: number }, mask: number): number;
  querySrq(srq: NativeHandle): { maxWr: number; maxSge: number; srqLimit: number } | number;
  postSrqRecv(srq: NativeHandle, batch: Uint8Array, count: number): number;
  addSrqTag(
    srq: NativeHandle,
    batch: Uint8Array,
    tag: bigint,
    mask: bigint,
    flags: number,
    unexpectedCnt: number,
    handle: Uint32Array,
  ): number;
  postSrqOp(
    srq: NativeHandle,
    opcode: number,
    handle: number,
    flags: number,
    unexpectedCnt: number,
    wrId: bigint | number,
    idIsNumber: boolean,
  ): number;

  createWq(
    pd: NativeHandle,
    cq: NativeHandle,
    attr: { wqType: number; maxWr: number; maxSge: number; createFlags: number },
  ): { handle: NativeHandle; id: number; wqNum: number; maxWr: number; maxSge: number } | number;
  modifyWq(wq: NativeHandle, attr: Record<string, number>): number;
  postWqRecv(wq: NativeHandle, batch: Uint8Array, count: number): number;
  createRwqIndTable(
    context: NativeHandle,
    queues: NativeHandle[],
  ): { handle: NativeHandle; indTblNum: number } | number;

  parseGid(text: string): Uint8Array | undefined;
  formatGid(gid: Uint8Array): string;
  errnoName(errno: number): string | undefined;
  errnoText(errno: number): string;
  objectCounts(): Record<string, number>;
  readonly nativeApi: object;
}

/** The addon of this package, or what throws at each use where it cannot be loaded. */
export const native = loadAddon({
  name: '@verbs/core',
  file: 'native/binding/build/Release/verbs_core.node',
  from: import.meta.url,
}) as Native;
