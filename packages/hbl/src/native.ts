import {
  loadProviderAddon,
  type NativeHandle,
  type NativeLibrary as Libibverbs,
  type OpenedLibrary,
} from '@verbs/core/provider';

declare const libraryBrand: unique symbol;

/** A loaded libhbl. */
export interface NativeLibrary {
  readonly [libraryBrand]: 'libhbl';
}

/** An External of @verbs/core with a type tag: a context, queue pair, …, or one of this package's objects. */
export type { NativeHandle };
/** A loaded libibverbs. */
export type { Libibverbs };

/** The mapped send queue of a queue pair, as the addon knows it. */
export interface NativeSendQueue {
  entries: number;
  entrySize: 32 | 64;
}

export interface NativeDeviceAttr {
  caps: bigint;
  portsMask: bigint;
  numPorts: number;
  extPortsMask?: bigint;
}

/** An element of `struct hbldv_coll_sched_resources`. */
export interface NativeCollSchedResource {
  type: number;
  id: number;
  size: bigint;
  paOffs: number;
  virtAddr: bigint;
}

export interface NativePort {
  maxNumOfQps: number;
  numAllocatedQps: number;
  maxAllocatedQpNum: number;
  maxCqSize: number;
  advanced: boolean;
  maxNumOfCqs: number;
  maxNumOfUsrFifos: number;
  maxNumOfEncaps: number;
  nicMacroIdx: number;
  nicPhysPortIdx: number;
  /** Collective queue pairs between machines that the port supports. Only the Gaudi SDK's library tells this and what follows. */
  maxNumOfScaleOutCollQps?: number;
  /** Collective queue pairs within a machine that the port supports. */
  maxNumOfCollQps?: number;
  /** The first number of a collective queue pair between machines. */
  baseScaleOutCollQpNum?: number;
  /** The first number of a collective queue pair within a machine. */
  baseCollQpNum?: number;
  /** From the number of a collective queue pair to its number on this port. */
  collQpsOffset?: number;
}

/**
 * The addon: one function for each function of libhbl, and those for mapped memory. Where a number stands beside a
 * result, a negative one is the errno of the failed call.
 */
export interface Native {
  setUp(coreApi: object): number;
  openLibrary(name: string): OpenedLibrary<NativeLibrary>;
  /** Whether the library has the functions and the structures of the Gaudi SDK's. */
  isSdk(library: NativeLibrary): boolean;
  attachModel(library: NativeLibrary, libibverbs: Libibverbs): number;

  isSupported(library: NativeLibrary, libibverbs: Libibverbs, name: string): boolean;
  openDevice(
    library: NativeLibrary,
    libibverbs: Libibverbs,
    name: string,
    attr: { portsMask: bigint; coreFd: number } | undefined,
  ): { handle: NativeHandle; device: string } | number;
  queryDevice(library: NativeLibrary, context: NativeHandle): NativeDeviceAttr | number;
  setPortEx(library: NativeLibrary, context: NativeHandle, attr: object): number;
  queryPort(library: NativeLibrary, context: NativeHandle, portNum: number): NativePort | number;

  createEncap(
    library: NativeLibrary,
    context: NativeHandle,
    attr: object,
  ): { handle: NativeHandle; encapNum: number } | number;

  createUsrFifo(
    library: NativeLibrary,
    context: NativeHandle,
    attr: object,
  ):
    | {
        handle: NativeHandle;
        usrFifoNum: number;
        size: number;
        bpThresh: number;
        regsOffset: number;
        mapped: boolean;
      }
    | number;
  consumerIndex(fifo: NativeHandle): number;
  space(fifo: NativeHandle): number;
  push(fifo: NativeHandle, doorbells: bigint | BigUint64Array, first: number, count: number): number;

  createCq(
    library: NativeLibrary,
    context: NativeHandle,
    cqe: number,
    channel: NativeHandle | undefined,
    compVector: number,
    attr: { portNum: number; cqType: number },
  ): { handle: NativeHandle; id: number; cqe: number } | number;
  queryCq(
    library: NativeLibrary,
    cq: NativeHandle,
  ): { cqNum: number; cqSize: number; regsOffset: number; cqType: number; mapped: boolean } | number;
  readCq(library: NativeLibrary, cq: NativeHandle, into: Uint8Array): number;

  modifyQp(
    library: NativeLibrary,
    qp: NativeHandle,
    attr: object,
    mask: number,
    pathMtu: number | undefined,
    hblAttr: object | undefined,
    encap: NativeHandle | undefined,
    qpToMigrate: NativeHandle | undefined,
  ): number;
  migrateQp(library: NativeLibrary, qp: NativeHandle): number;
  reserveCollQps(library: NativeLibrary, pd: NativeHandle, attr: object): { qpNum: number } | number;
  reserveCollSchedResources(library: NativeLibrary, context: NativeHandle): NativeCollSchedResource[] | number;
  /** Its port, if `modifyQp` has given it one, else 0. */
  qpPort(qp: NativeHandle): number;
  queryQp(
    library: NativeLibrary,
    qp: NativeHandle,
  ): { qpNum: number; sendQueue?: NativeSendQueue; receiveQueueMapped: boolean } | number;
  writeSendQueue(
    library: NativeLibrary,
    qp: NativeHandle,
    index: number,
    bytes: Uint8Array,
    entries: number,
    entrySize: number,
  ): number;
}

export const native: Native = loadProviderAddon({
  name: '@verbs/hbl',
  file: 'native/binding/build/Release/verbs_hbl.node',
  from: import.meta.url,
}) as Native;
