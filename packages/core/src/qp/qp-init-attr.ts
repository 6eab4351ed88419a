import { types } from 'node:util';
import { fields, flag, maybe, or, u16, u24, u31, u53, u8, unchecked } from '../base/fields.js';
import type { NativeHandle, NativeQpInit } from '../base/native.js';
import { object, typeError } from '../base/validate.js';
import type { CompletionQueue } from '../completion/completion-queue.js';
import {
  type QpCreateFlags,
  QpType,
  type RxHashFields,
  type RxHashFunction,
  type SendOpsFlags,
} from '../enums/index.js';
import { handle, handleOf } from '../lifetime/resource.js';
import type { XrcDomain } from '../types/objects.js';
import type { QpCap } from '../types/qp-attr.js';
import type { IndirectionTable } from './indirection-table.js';
import type { SharedReceiveQueue } from './shared-receive-queue.js';

/** `struct ibv_qp_init_attr`. */
export interface QpInitAttr<T extends number = QpType> {
  /** See {@link QpType}. */
  qpType: T;
  /** Every type except XRC_RECV needs it. */
  sendCq?: CompletionQueue;
  /** Every type except those of XRC needs it. */
  recvCq?: CompletionQueue;
  /** Takes the place of the queue pair's own receive queue. */
  srq?: SharedReceiveQueue;
  /** The requested capacities; {@link QueuePair.cap} has the granted ones. */
  cap: QpCap;
  /** Whether every send request completes visibly, without SendFlags.SIGNALED; default false. */
  sqSigAll?: boolean;

  // With any of the fields below the call is `ibv_create_qp_ex`.

  /** XRC_RECV only. */
  xrcd?: XrcDomain;
  /** See {@link QpCreateFlags}. */
  createFlags?: QpCreateFlags;
  /** See {@link SendOpsFlags}: requests are then posted by `ibv_wr_*`, up to 64 of a `postSend` at a time, all of those or none. */
  sendOpsFlags?: SendOpsFlags;
  /** Bytes of headers in front of a TSO request. */
  maxTsoHeader?: number;
  /** With QpCreateFlags.SOURCE_QPN: the number that the packets are sent from. */
  sourceQpn?: number;
  /** Receive side scaling: where packets go, by a hash. */
  rwqIndTbl?: IndirectionTable;
  /** With `rwqIndTbl`: the fields and the function of the hash. */
  rxHashConf?: RxHashConf;
}

/** `struct ibv_rx_hash_conf`. */
export interface RxHashConf {
  /** See {@link RxHashFunction}. */
  function: RxHashFunction;
  /** At most 255 bytes; Toeplitz takes 40. */
  key: Uint8Array;
  /** See {@link RxHashFields}. */
  fields: RxHashFields;
}

/** The adapters' own limits are far below 2^24; the bound prevents an allocation for an absurd number. */
const capOf = (maxRecvSge: number) =>
  fields({
    maxSendWr: or(u24(), 0),
    maxRecvWr: or(u24(), 0),
    maxSendSge: or(u16(), 1),
    maxRecvSge: or(u16(), maxRecvSge),
    maxInlineData: or(u24(), 0),
  });
export const nativeCap = capOf(1);
/** With an indirection table the kernel rejects a receive queue of the queue pair's own. */
const hashedCap = capOf(0);

const rxHashConf = fields({
  function: u8(),
  key: (value: unknown, path: string) => {
    if (!types.isUint8Array(value) || value.byteLength > 255) throw typeError(path, 'at most 255 bytes', value);
    return value;
  },
  fields: (value: unknown, path: string) => BigInt(u53()(value, path)),
});

const SYSCALL = 'ibv_create_qp';

const initAttr = fields({
  qpType: u8(),
  sqSigAll: flag(),
  sendCq: unchecked,
  recvCq: unchecked,
  srq: maybe(handle('SharedReceiveQueue', SYSCALL)),
  xrcd: unchecked,
  rwqIndTbl: maybe(handle('IndirectionTable', SYSCALL)),
  cap: unchecked,
  createFlags: maybe(u31()),
  maxTsoHeader: maybe(u16()),
  sourceQpn: maybe(u24()),
  sendOpsFlags: maybe((value, path) => BigInt(u31()(value, path))),
  rxHashConf: maybe(rxHashConf),
});

/** The program's attributes, read once. */
export function qpInitAttr<T extends number>(value: QpInitAttr<T>, path: string): QpInitAttr<T> {
  return object(value, path, initAttr.names) as unknown as QpInitAttr<T>;
}

/** `pd` is missing for XRC_RECV. C libraries follow the pointers to a type's parts, so the check requires them. */
export function nativeQpInitAttr(value: unknown, path: string, pd?: NativeHandle): NativeQpInit {
  const { sendCq, recvCq, xrcd, cap: given, ...attr } = initAttr(value, path);
  const { qpType } = attr;
  const part = (name: string, given: unknown, kind: string, needed: boolean) =>
    given === undefined && !needed ? {} : { [name]: handleOf(given, kind, `${path}.${name}`, SYSCALL) };
  const hashed = attr.rwqIndTbl !== undefined;
  const cap = (hashed ? hashedCap : nativeCap)(given, `${path}.cap`);
  const xrc = qpType === QpType.XRC_RECV || qpType === QpType.XRC_SEND;
  return {
    ...(pd === undefined ? {} : { pd }),
    ...attr,
    cap,
    ...part('sendCq', sendCq, 'CompletionQueue', qpType !== QpType.XRC_RECV && !hashed),
    ...part('recvCq', recvCq, 'CompletionQueue', !xrc && !hashed),
    ...part('xrcd', xrcd, 'XrcDomain', qpType === QpType.XRC_RECV),
  };
}
