import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { DeviceAttr, DeviceAttrEx, PortAttr } from './attributes.js';

declare const handleBrand: unique symbol;

/** A type-tagged External around a native object. Nothing but the addon can make or look into one. */
export interface NativeHandle {
  readonly [handleBrand]: 'object';
}

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

export interface NativeRegion {
  handle: NativeHandle;
  id: number;
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

/** The fields that are plain numbers in both directions, by their names in `struct ibv_qp_attr`. */
export type NativeQpAttr = Record<string, number | NativeCap | NativeAhAttr>;

/**
 * The addon: one function for each function of libibverbs. Where a number stands beside a result, a negative one is
 * the errno of the failed C call.
 */
export interface Native {
  openLibrary(
    name: string,
  ): { handle: NativeLibrary; soft: boolean; reason?: never } | { handle?: never; reason: string };
  getDeviceList(library: NativeLibrary): NativeDevice[] | number;
  openDevice(library: NativeLibrary, name: string): NativeHandle | number;
  readSysfsFile(library: NativeLibrary, directory: string, file: string): string | number;
  wcStatusText(library: NativeLibrary, status: number): string;
  eventTypeText(library: NativeLibrary, type: number): string;

  close(handle: NativeHandle): number;
  isOpen(handle: NativeHandle): boolean;

  queryDevice(context: NativeHandle): DeviceAttr | number;
  queryDeviceEx(context: NativeHandle): DeviceAttrEx | number;
  queryPort(context: NativeHandle, portNum: number): PortAttr | number;
  queryGid(context: NativeHandle, portNum: number, index: number): Uint8Array | number;
  queryPkey(context: NativeHandle, portNum: number, index: number): number;
  queryGidTable(context: NativeHandle, room: number): NativeGidEntry[] | number;
  numCompVectors(context: NativeHandle): number;
  getAsyncEvent(context: NativeHandle): [type: number, element: number] | number;
  watchAsync(context: NativeHandle, callback: () => void): number;
  refAsync(context: NativeHandle, ref: boolean): void;

  allocPd(context: NativeHandle): NativeHandle | number;
  allocMr(pd: NativeHandle, length: number, access: number): (NativeRegion & { buffer: ArrayBuffer }) | number;
  regMr(pd: NativeHandle, view: Uint8Array, access: number): NativeRegion | number;
  isBlock(view: Uint8Array): boolean;
  createAh(pd: NativeHandle, attr: NativeAhAttr): { handle: NativeHandle; id: number } | number;

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
  ): { handle: NativeHandle; id: number; cqe: number } | number;
  reqNotify(cq: NativeHandle, solicitedOnly: boolean): number;
  poll(cq: NativeHandle, records: Uint8Array, count: number): number;

  createQp(
    pd: NativeHandle,
    sendCq: NativeHandle,
    recvCq: NativeHandle,
    attr: { qpType: number; sqSigAll: boolean; cap: NativeCap },
  ): { handle: NativeHandle; id: number; qpNum: number; cap: NativeCap } | number;
  modifyQp(qp: NativeHandle, attr: NativeQpAttr, mask: number): number;
  queryQp(
    qp: NativeHandle,
    mask: number,
  ): { attr: NativeQpAttr; initAttr: { qpType: number; sqSigAll: boolean; cap: NativeCap } } | number;
  /** 0, the positive errno of the C library, or a negative PostError. */
  postSend(qp: NativeHandle, batch: Uint8Array, count: number): number;
  postRecv(qp: NativeHandle, batch: Uint8Array, count: number): number;

  parseGid(text: string): Uint8Array | undefined;
  formatGid(gid: Uint8Array): string;
  errnoName(errno: number): string | undefined;
  errnoText(errno: number): string;
  readonly nativeApi: object;
}

/** Where node-gyp puts the addon, seen from dist/ and from src/ alike. */
const ADDON = '../native/build/Release/verbs_core.node';

function load(): Native {
  try {
    return createRequire(import.meta.url)(ADDON) as Native;
  } catch (cause) {
    const path = fileURLToPath(new URL(ADDON, import.meta.url));
    throw new Error(
      `the native part of @verbs/core does not load from ${path}: build it with "npm run build:native" in the ` +
        `package's folder (needs g++, make, python3 and the package libibverbs-dev)`,
      { cause },
    );
  }
}

export const native: Native = load();
