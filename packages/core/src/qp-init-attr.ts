import type { CompletionQueue } from './completion-queue.js';
import type { NativeCap, NativeHandle } from './native.js';
import { handleOf } from './resource.js';
import { boolean, integer, object, optional } from './validate.js';
import type { QpType } from './enums.js';

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
export interface QpInitAttr {
  /** See {@link QpType}. */
  qpType: QpType;
  sendCq: CompletionQueue;
  recvCq: CompletionQueue;
  cap: QpCap;
  /** Whether every send request completes visibly, without SendFlags.SIGNALED; default false. */
  sqSigAll?: boolean;
}

const names = ['qpType', 'sendCq', 'recvCq', 'cap', 'sqSigAll'];
const capNames = ['maxSendWr', 'maxRecvWr', 'maxSendSge', 'maxRecvSge', 'maxInlineData'];

interface NativeInit {
  qpType: number;
  sqSigAll: boolean;
  sendCq: NativeHandle;
  recvCq: NativeHandle;
  cap: NativeCap;
}

export function nativeQpInitAttr(value: unknown, path: string): NativeInit {
  const attr = object(value, path, names);
  const queue = (name: string) => handleOf(attr[name], 'CompletionQueue', `${path}.${name}`, 'ibv_create_qp');
  return {
    qpType: integer(attr['qpType'], `${path}.qpType`, 0, 255),
    sqSigAll: boolean(attr['sqSigAll'], `${path}.sqSigAll`, false),
    sendCq: queue('sendCq'),
    recvCq: queue('recvCq'),
    cap: nativeCap(attr['cap'], `${path}.cap`),
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
