import type { coreNative } from '@verbs/core/provider';
import type { NativeHandle, NativeLibrary } from './handles.js';

type CoreNative = typeof coreNative;
type Made<Name extends 'createCq' | 'createQp' | 'createWq' | 'allocDm' | 'regDmabufMr'> = ReturnType<CoreNative[Name]>;
type Attr = Record<string, number | bigint | undefined>;

type Setting = (library: NativeLibrary, qp: NativeHandle, value: number) => number;

/** Of native/binding/queues.cc, queue_settings.cc and internals.cc. */
export interface NativeQueues {
  createCq(
    library: NativeLibrary,
    context: NativeHandle,
    cqe: number,
    channel: NativeHandle | undefined,
    compVector: number,
    extended: { wcFlags: bigint; flags: number; parentDomain?: NativeHandle },
    attr: Attr,
  ): Made<'createCq'>;
  createQp(library: NativeLibrary, init: Parameters<CoreNative['createQp']>[0], attr: Attr): Made<'createQp'>;
  createWq(
    library: NativeLibrary,
    pd: NativeHandle,
    cq: NativeHandle,
    init: Parameters<CoreNative['createWq']>[2],
    attr: Attr,
  ): Made<'createWq'>;
  allocDm(
    library: NativeLibrary,
    context: NativeHandle,
    length: number,
    logAlignment: number,
    type: number,
  ): Made<'allocDm'>;
  regDmabufMr(
    library: NativeLibrary,
    pd: NativeHandle,
    offset: bigint,
    length: bigint,
    iova: bigint,
    fd: number,
    access: number,
    mlx5Access: number,
  ): Made<'regDmabufMr'>;

  queryQpLagPort(library: NativeLibrary, qp: NativeHandle): { portNum: number; activePortNum: number } | number;
  modifyQpLagPort: Setting;
  modifyQpUdpSport: Setting;
  dciStreamIdReset: Setting;
  mapAhToQp(library: NativeLibrary, ah: NativeHandle, qpNum: number): number;

  initQp(
    library: NativeLibrary,
    qp: NativeHandle,
  ):
    | {
        sqWqeCnt: number;
        sqStride: number;
        rqWqeCnt: number;
        rqStride: number;
        bfSize: number;
        compMask: bigint;
        tirn: number;
        tisn: number;
        rqn: number;
        sqn: number;
        tirIcmAddr: bigint;
      }
    | number;
  initCq(library: NativeLibrary, cq: NativeHandle): { cqeCnt: number; cqeSize: number; cqn: number } | number;
  initSrq(
    library: NativeLibrary,
    srq: NativeHandle,
  ): { stride: number; head: number; tail: number; srqn: number } | number;
  initRwq(library: NativeLibrary, wq: NativeHandle): { wqeCnt: number; stride: number } | number;
  initDm(library: NativeLibrary, dm: NativeHandle): { length: bigint; remoteVa: bigint } | number;
  initPd(library: NativeLibrary, pd: NativeHandle): number;
  initAh(library: NativeLibrary, ah: NativeHandle, into: Uint8Array): number;
}
