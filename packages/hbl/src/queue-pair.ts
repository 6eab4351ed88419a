import { Mtu, type QpAttr, QpAttrMask, QpState, type QueuePair } from '@verbs/core';
import { check, checked, coreNative, handleOf, nativeQpAttr, setQueuePairState, validate } from '@verbs/core/provider';
import { encodeWqe, type Wqe } from './doorbell.js';
import { findEncap } from './encap.js';
import { MTU_8192, QpCaps, QpWqTypes, SwqGranularity } from './enums.js';
import { libraries } from './libraries.js';
import { native, type NativeHandle, type NativeLibrary } from './native.js';

const U32 = 0xffffffff;
const INDEX_MASK = 0x3fffff;

/** `struct hbldv_qp_attr`: each field counts in the transitions that it is said for. */
export interface HblQpAttr {
  /** {@link QpCaps}, or-ed; default 0. ENCAP at RTR and at RTS. */
  caps?: bigint | number;
  /** RTR: the key of local memory. */
  localKey?: number;
  /** RTS: the key of the peer's memory. */
  remoteKey?: number;
  /** RTS. */
  congestionWnd?: number;
  /** RTS of rendezvous queue pairs: entries of the destination's work queue, a power of two. */
  destWqSize?: number;
  /** INIT: {@link QpWqTypes}, or-ed; default WRITE. */
  wqType?: number;
  /** INIT: {@link SwqGranularity}, default 32 bytes. */
  wqGranularity?: number;
  /** RTR and RTS: 1 to 3, default 1. */
  priority?: number;
  /** RTR and RTS, with QpCaps.ENCAP: `encap.encapNum`. */
  encapNum?: number;
}

/** What the binding remembers of a queue pair: the entries of its send work queue, and the encapsulations it keeps. */
interface Remembered {
  granularity: number;
  uses: NativeHandle[];
}
const remembered = new WeakMap<QueuePair, Remembered>();

/**
 * `hbldv_modify_qp`: as `qp.modify`, with what the hardware wants beyond. Without `hblAttr` the defaults are those of
 * the C function: WRITE and 32 bytes at INIT, priority 1 at RTS.
 *
 * A `pathMtu` of {@link MTU_8192} is allowed too.
 *
 * @throws TypeError, RangeError for a field that is misspelt or out of its range
 * @throws VerbsError EINVAL if the fields do not fit the transition
 * @example
 * modifyQp(
 *   qp,
 *   { qpState: QpState.RTS, sqPsn: 0, timeout: 14, retryCnt: 7, rnrRetry: 7, maxRdAtomic: 1 },
 *   { caps: QpCaps.ENCAP, encapNum: encap.encapNum, remoteKey: peer.rkey },
 * );
 */
export function modifyQp(qp: QueuePair, attr: QpAttr, hblAttr?: HblQpAttr): void {
  const syscall = 'hbldv_modify_qp';
  const { hbl, handle } = forQueuePair(qp, syscall);
  const large = attr.pathMtu === MTU_8192;
  const { attr: fields, mask } = nativeQpAttr(large ? { ...attr, pathMtu: Mtu.MTU_4096 } : attr, 'attr');
  const extended = hblAttr === undefined ? undefined : nativeHblAttr(hblAttr);
  const known = remembered.get(qp) ?? { granularity: SwqGranularity.GRAN_32B, uses: [] };
  // Before the call: between it and now nothing may take the encapsulation away.
  const use = extended === undefined ? undefined : keepEncap(qp, handle, attr, extended);
  const code = native.modifyQp(hbl, handle, fields, mask, large ? MTU_8192 : undefined, extended);
  if (code < 0 && use !== undefined) coreNative.close(use);
  check(-Math.abs(code), syscall, {
    detail: attr.qpState === undefined ? undefined : `to state ${attr.qpState}`,
  });
  if (attr.qpState === QpState.INIT) known.granularity = extended?.wqGranularity ?? SwqGranularity.GRAN_32B;
  if (attr.qpState === QpState.RESET) {
    for (const each of known.uses.splice(0)) coreNative.close(each);
  }
  if (use !== undefined) known.uses.push(use);
  remembered.set(qp, known);
  const { qpState } = fields;
  if (typeof qpState === 'number') setQueuePairState(qp, qpState);
}

function keepEncap(
  qp: QueuePair,
  handle: NativeHandle,
  attr: QpAttr,
  { caps, encapNum }: { caps: bigint; encapNum: number },
): NativeHandle | undefined {
  const connects = attr.qpState === QpState.RTR || attr.qpState === QpState.RTS;
  if (!connects || (caps & BigInt(QpCaps.ENCAP)) === 0n) return undefined;
  const { portNum } = qp.query(QpAttrMask.PORT).attr;
  const encap = findEncap(qp.context, portNum, encapNum);
  if (encap === undefined) return undefined;
  return native.useEncap(handle, handleOf(encap, 'Encap', 'hblAttr.encapNum', 'hbldv_modify_qp'));
}

function nativeHblAttr(attr: HblQpAttr) {
  const path = 'hblAttr';
  const names = ['caps', 'localKey', 'remoteKey', 'congestionWnd', 'destWqSize', 'wqType', 'wqGranularity', 'priority'];
  const given = validate.object(attr, path, [...names, 'encapNum']);
  const field = (name: string, max: number, otherwise = 0) =>
    validate.optional(given[name], `${path}.${name}`, max, otherwise);
  return {
    caps: BigInt(validate.u64(given['caps'] ?? 0, `${path}.caps`)),
    localKey: field('localKey', U32),
    remoteKey: field('remoteKey', U32),
    congestionWnd: field('congestionWnd', U32),
    destWqSize: field('destWqSize', U32),
    wqType: field('wqType', U32, QpWqTypes.WRITE),
    wqGranularity: field('wqGranularity', U32, SwqGranularity.GRAN_32B),
    priority: field('priority', 0xff, 1),
    encapNum: field('encapNum', 0xff),
  };
}

/** `struct hbldv_query_qp_attr`; the mapped send work queue is an object with bounds. */
export interface QueryQpAttr {
  /** The hardware's number, from INIT on: what doorbells name, and what the peer connects to. 0 before. */
  qpNum: number;
  /** From RTS on, if the port has an array of work queues. */
  sendQueue: SendWorkQueue | undefined;
  /** Whether the receive work queue is mapped. */
  receiveQueueMapped: boolean;
}

/**
 * `hbldv_query_qp`: the hardware's number of a queue pair, and its mapped queues once it is in RTS.
 *
 * @throws TypeError for what is no QueuePair; VerbsError EOPNOTSUPP for one of another vendor's device
 */
export function queryQp(qp: QueuePair): QueryQpAttr {
  const syscall = 'hbldv_query_qp';
  const { hbl, handle } = forQueuePair(qp, syscall);
  const { qpNum, sendQueueMapped, receiveQueueMapped } = checked(native.queryQp(hbl, handle), syscall);
  return { qpNum, sendQueue: sendQueueMapped ? new SendWorkQueue(qp) : undefined, receiveQueueMapped };
}

/** The mapped send work queue of a queue pair: where the entries are written that doorbells announce. */
export class SendWorkQueue {
  /** The queue pair that it belongs to. */
  readonly qp: QueuePair;
  /** How many entries it has: a power of two, for what the queue pair was created for. */
  readonly entries: number;
  /** Bytes of an entry. */
  readonly entrySize: 32 | 64;

  /** @internal */
  constructor(qp: QueuePair) {
    this.qp = qp;
    this.entries = 2 ** Math.ceil(Math.log2(Math.max(1, qp.cap.maxSendWr)));
    this.entrySize = remembered.get(qp)?.granularity === SwqGranularity.GRAN_64B ? 64 : 32;
  }

  /**
   * Writes an entry: number `index`, counted from the first one ever, goes into slot `index % entries`. The caller sees
   * to it that the entry before in that slot has completed.
   *
   * @returns the index for the doorbell that announces this entry and all before it
   * @throws VerbsError EINVAL if the queue is not mapped any more
   */
  write(index: number, wqe: Wqe | Uint8Array): number {
    const syscall = 'hbldv_query_qp';
    validate.integer(index, 'index', 0, Number.MAX_SAFE_INTEGER);
    const bytes = wqe instanceof Uint8Array ? wqe : encodeWqe(wqe);
    if (bytes.byteLength > this.entrySize) {
      throw validate.rangeError('wqe.byteLength', `at most ${this.entrySize}, the size of an entry`, bytes.byteLength);
    }
    const { hbl, handle } = forQueuePair(this.qp, syscall);
    const offset = (index % this.entries) * this.entrySize;
    check(native.writeSendQueue(hbl, handle, offset, bytes, this.entries * this.entrySize), syscall);
    return (index + 1) & INDEX_MASK;
  }
}

function forQueuePair(qp: QueuePair, syscall: string): { hbl: NativeLibrary; handle: NativeHandle } {
  const handle = handleOf(qp, 'QueuePair', 'qp', syscall);
  return { hbl: libraries.for(qp.context.device.library, syscall).vendor, handle };
}
