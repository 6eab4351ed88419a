import { types } from 'node:util';
import type { CompletionQueue } from '../completion/completion-queue.js';
import { QpType } from '../enums/index.js';
import type { IndirectionTable } from './indirection-table.js';
import type { NativeCap, NativeHandle, NativeQpInit } from '../base/native.js';
import { handleOf } from '../lifetime/resource.js';
import type { SharedReceiveQueue } from './shared-receive-queue.js';
import { boolean, integer, object, optional, typeError } from '../base/validate.js';
import type { XrcDomain } from './xrc-domain.js';

/** `struct ibv_qp_cap`: how much a queue pair takes. The device may give more. */
export interface QpCap {
  /** Outstanding send requests. */
  maxSendWr: number;
  /** Outstanding receive requests. */
  maxRecvWr: number;
  /** Elements of a send request, default 1. */
  maxSendSge?: number;
  /** Elements of a receive request, default 1. */
  maxRecvSge?: number;
  /** Bytes that SendFlags.INLINE may carry, default 0. */
  maxInlineData?: number;
}

/** `struct ibv_qp_init_attr`. */
export interface QpInitAttr<T extends number = QpType> {
  /** See {@link QpType}. */
  qpType: T;
  /** Every type but XRC_RECV has one. */
  sendCq?: CompletionQueue;
  /** Every type but those of XRC has one. */
  recvCq?: CompletionQueue;
  /** Takes the place of the queue pair's own receive queue. */
  srq?: SharedReceiveQueue;
  /** How much it takes; {@link QueuePair.cap} tells what the device gave. */
  cap: QpCap;
  /** Whether every send request completes visibly, without SendFlags.SIGNALED; default false. */
  sqSigAll?: boolean;

  // What follows makes it `ibv_create_qp_ex`.

  /** XRC_RECV only. */
  xrcd?: XrcDomain;
  /** See {@link QpCreateFlags}. */
  createFlags?: number;
  /** See {@link SendOpsFlags}: requests are then posted by `ibv_wr_*`, all of one `postSend` or none. */
  sendOpsFlags?: number;
  /** Bytes of headers in front of a TSO request. */
  maxTsoHeader?: number;
  /** With QpCreateFlags.SOURCE_QPN: the number that the packets are sent from. */
  sourceQpn?: number;
  /** Receive side scaling: where packets go, by a hash. */
  rwqIndTbl?: IndirectionTable;
  /** With `rwqIndTbl`: what the hash is made of. */
  rxHashConf?: RxHashConf;
}

/** `struct ibv_rx_hash_conf`. */
export interface RxHashConf {
  /** See {@link RxHashFunction}. */
  function: number;
  /** At most 255 bytes; Toeplitz takes 40. */
  key: Uint8Array;
  /** See {@link RxHashFields}. */
  fields: number;
}

const names = [
  ...['qpType', 'sendCq', 'recvCq', 'srq', 'cap', 'sqSigAll', 'xrcd', 'createFlags', 'sendOpsFlags', 'maxTsoHeader'],
  ...['sourceQpn', 'rwqIndTbl', 'rxHashConf'],
];
const capNames = ['maxSendWr', 'maxRecvWr', 'maxSendSge', 'maxRecvSge', 'maxInlineData'];

/** What the program gave, read once. */
export function qpInitAttr<T extends number>(value: QpInitAttr<T>, path: string): QpInitAttr<T> {
  return object(value, path, names) as unknown as QpInitAttr<T>;
}

/** `pd` is missing for XRC_RECV. Which parts a type needs is checked here, for providers follow the pointers. */
export function nativeQpInitAttr(value: unknown, path: string, pd?: NativeHandle): NativeQpInit {
  const attr = object(value, path, names);
  const qpType = integer(attr['qpType'], `${path}.qpType`, 0, 255);
  const part = (name: string, kind: string, needed: boolean) => {
    const given = attr[name];
    return given === undefined && !needed ? {} : { [name]: handleOf(given, kind, `${path}.${name}`, 'ibv_create_qp') };
  };
  const number = (name: string, max: number) => {
    const given = attr[name];
    return given === undefined ? {} : { [name]: integer(given, `${path}.${name}`, 0, max) };
  };
  const ops = attr['sendOpsFlags'];
  const hash = attr['rxHashConf'];
  const hashed = attr['rwqIndTbl'] !== undefined;
  const xrc = qpType === QpType.XRC_RECV || qpType === QpType.XRC_SEND;
  return {
    ...(pd === undefined ? {} : { pd }),
    qpType,
    sqSigAll: boolean(attr['sqSigAll'], `${path}.sqSigAll`, false),
    ...part('sendCq', 'CompletionQueue', qpType !== QpType.XRC_RECV && !hashed),
    ...part('recvCq', 'CompletionQueue', !xrc && !hashed),
    ...part('srq', 'SharedReceiveQueue', false),
    ...part('xrcd', 'XrcDomain', qpType === QpType.XRC_RECV),
    ...part('rwqIndTbl', 'IndirectionTable', false),
    cap: nativeCap(attr['cap'], `${path}.cap`),
    ...number('createFlags', 0x7fffffff),
    ...number('maxTsoHeader', 0xffff),
    ...number('sourceQpn', 0xffffff),
    ...(ops === undefined ? {} : { sendOpsFlags: BigInt(integer(ops, `${path}.sendOpsFlags`, 0, 0x7fffffff)) }),
    ...(hash === undefined ? {} : { rxHashConf: nativeHash(hash, `${path}.rxHashConf`) }),
  };
}

function nativeHash(value: unknown, path: string) {
  const conf = object(value, path, ['function', 'key', 'fields']);
  const key = conf['key'];
  if (!types.isUint8Array(key) || key.byteLength > 255) throw typeError(`${path}.key`, 'at most 255 bytes', key);
  return {
    function: integer(conf['function'], `${path}.function`, 0, 255),
    key,
    fields: BigInt(integer(conf['fields'], `${path}.fields`, 0, Number.MAX_SAFE_INTEGER)),
  };
}

/** The adapters' own limits are far below 2^24; the bound keeps an absurd number from the memory for them. */
const MANY = 0xffffff;

export function nativeCap(value: unknown, path: string): NativeCap {
  const cap = object(value, path, capNames);
  return {
    maxSendWr: optional(cap['maxSendWr'], `${path}.maxSendWr`, MANY, 0),
    maxRecvWr: optional(cap['maxRecvWr'], `${path}.maxRecvWr`, MANY, 0),
    maxSendSge: optional(cap['maxSendSge'], `${path}.maxSendSge`, 0xffff, 1),
    maxRecvSge: optional(cap['maxRecvSge'], `${path}.maxRecvSge`, 0xffff, 1),
    maxInlineData: optional(cap['maxInlineData'], `${path}.maxInlineData`, MANY, 0),
  };
}
