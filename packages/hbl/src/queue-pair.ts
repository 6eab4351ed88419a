import { types } from 'node:util';
import { enumName, Mtu, type QpAttr, QpAttrMask, QpState, type QueuePair, VerbsError } from '@verbs/core';
import {
  check,
  checked,
  errno,
  fields,
  handleOf,
  knownQueuePairState,
  modifyReason,
  nativeQpAttr,
  or,
  setQueuePairState,
  u32,
  u64,
  u8,
  uint8Array,
  validate,
} from '@verbs/core/provider';
import { encodeWqe, type Wqe } from './doorbell.js';
import { findEncap } from './encap.js';
import { MTU_8192, QpCaps, QpWqTypes, SwqGranularity } from './enums.js';
import { forContext } from './libraries.js';
import { native, type NativeHandle, type NativeLibrary, type NativeSendQueue } from './native.js';

const INDEX_MASK = 0x3fffff;

/** `struct hbldv_qp_attr`: each field takes effect in the transitions that its description names. */
export interface HblQpAttr {
  /** {@link QpCaps}, or-ed; default 0. ENCAP at RTR and at RTS. */
  caps?: QpCaps | bigint;
  /** RTR: the key of local memory. */
  localKey?: number;
  /** RTS: the key of the peer's memory. */
  remoteKey?: number;
  /** RTS: the congestion window. */
  congestionWnd?: number;
  /** RTS of rendezvous queue pairs: entries of the destination's work queue, a power of two. */
  destWqSize?: number;
  /** INIT: {@link QpWqTypes}, or-ed; default WRITE. */
  wqType?: QpWqTypes;
  /** INIT: {@link SwqGranularity}, default 32 bytes. */
  wqGranularity?: SwqGranularity;
  /** RTR and RTS: 1 to 3, default 1. The model checks it at RTS. */
  priority?: number;
  /** RTR and RTS, only with QpCaps.ENCAP: `encap.encapNum`. */
  encapNum?: number;
  /** With QpCaps.COLL: the place in the link aggregation group. */
  collLagIdx?: number;
  /** With QpCaps.COLL: 1 for the last one of the group. */
  collLastInLag?: number;
  /** With QpCaps.COLL: the number of links in the group. */
  collLagSize?: number;
  /** With QpCaps.MIGRATE: the queue pair that this one takes over from, of the same context. */
  qpToMigrate?: QueuePair;
}

/** The attributes of {@link modifyQp}: this hardware has one MTU more. */
export type HblModify = Omit<QpAttr, 'pathMtu'> & {
  /** The largest packet: core's `Mtu`, or {@link MTU_8192}. */
  pathMtu?: Mtu | typeof MTU_8192;
};

/**
 * `hbldv_modify_qp`: `qp.modify` with the attributes of this hardware. Without `hblAttr` the C function's defaults apply:
 * WRITE and 32 bytes at INIT, priority 1 at RTS. On hardware it has none for other states, RESET and ERR among them, and
 * for changes within a state: give `{}` there.
 *
 * `pathMtu` may also be {@link MTU_8192}.
 *
 * @throws TypeError, RangeError for a field that is misspelt or out of its range, or `encapNum` without QpCaps.ENCAP
 * @throws VerbsError EINVAL if the fields do not fit the transition; EOPNOTSUPP for a queue pair of another vendor's device
 * @example
 * modifyQp(
 *   qp,
 *   { qpState: QpState.RTS, sqPsn: 0, timeout: 14, retryCnt: 7, rnrRetry: 7, maxRdAtomic: 1 },
 *   { caps: QpCaps.ENCAP, encapNum: encap.encapNum, remoteKey: peer.rkey },
 * );
 */
export function modifyQp(qp: QueuePair, attr: HblModify, hblAttr?: HblQpAttr): void {
  const syscall = 'hbldv_modify_qp';
  const { hbl, handle } = forQueuePair(qp, syscall);
  const large = checkedMtu(attr) === MTU_8192;
  const common = (large ? { ...attr, pathMtu: Mtu.MTU_4096 } : attr) as QpAttr;
  const { attr: fields, mask } = nativeQpAttr(common, 'attr');
  const extended = hblAttr === undefined ? undefined : checkHblAttr(hblAttr, 'hblAttr');
  if (hblAttr?.encapNum !== undefined && !hasEncap(extended)) {
    throw validate.valueError('hblAttr.encapNum', 'needs QpCaps.ENCAP in hblAttr.caps: without it there is no tunnel');
  }
  const encap = extended === undefined ? undefined : usedEncap(qp, attr, extended);
  const migrated = extended?.qpToMigrate;
  const from = migrated && handleOf(migrated, 'QueuePair', 'hblAttr.qpToMigrate', syscall);
  // Before the call: a Gaudi2 falls back to RESET when RTR or RTS fails.
  const state = knownQueuePairState(qp);
  const code = native.modifyQp(hbl, handle, fields, mask, large ? MTU_8192 : undefined, extended, encap, from);
  if (code !== 0) throw refused(Math.abs(code), qp, state, common, extended, encap);
  const { qpState } = fields;
  if (typeof qpState === 'number') setQueuePairState(qp, qpState);
}

type Extended = ReturnType<typeof checkHblAttr>;

function checkedMtu(attr: HblModify): number | undefined {
  // What is no object is an error of the check of all fields.
  const pathMtu = (attr as HblModify | null | undefined)?.pathMtu;
  if (typeof pathMtu !== 'number' || pathMtu === MTU_8192 || has(Mtu, pathMtu)) return pathMtu;
  const names = Object.keys(Mtu).map((name) => `Mtu.${name}`);
  throw validate.rangeError('attr.pathMtu', `one of ${names.join(', ')}, MTU_8192`, pathMtu);
}

function has(values: Readonly<Record<string, number>>, value: number): boolean {
  return Object.values(values).includes(value);
}

function hasEncap(extended: Extended | undefined): boolean {
  return extended !== undefined && (extended.caps & BigInt(QpCaps.ENCAP)) !== 0n;
}

function refused(
  code: number,
  qp: QueuePair,
  from: number,
  attr: QpAttr,
  extended: Extended | undefined,
  encap: NativeHandle | undefined,
): VerbsError {
  const step = [from, attr.qpState ?? from].map((state) => enumName(QpState, state)).join(' -> ');
  let hint: string | undefined;
  if (code === errno.EINVAL && from !== QpState.UNKNOWN) {
    try {
      const { context, qpType } = qp;
      const { portNum } = qp.query(QpAttrMask.PORT).attr;
      const device = () => context.queryDevice();
      hint = modifyReason({ qpType, from, attr, portNum, device, port: (port) => context.queryPort(port) });
    } catch {
      // The device does not tell: what is known of the attributes of this hardware is left.
    }
  }
  if (code === errno.EINVAL && extended !== undefined) hint ??= wrongExtended(qp, attr.qpState, extended, encap);
  return new VerbsError(code, 'hbldv_modify_qp', { detail: `of 0x${qp.qpNum.toString(16)} ${step}`, hint });
}

/** Which attribute of this hardware the step does not take; undefined where only the general remedy is left. */
function wrongExtended(
  qp: QueuePair,
  to: QpState | undefined,
  extended: Extended,
  encap: NativeHandle | undefined,
): string | undefined {
  const { wqGranularity, priority, encapNum, qpToMigrate = qp } = extended;
  if (qpToMigrate.context !== qp.context) return 'hblAttr.qpToMigrate is of another open device';
  if (to === QpState.INIT) {
    return has(SwqGranularity, wqGranularity)
      ? undefined
      : `hblAttr.wqGranularity ${wqGranularity} is none of SwqGranularity`;
  }
  if (to !== QpState.RTR && to !== QpState.RTS) return undefined;
  if (hasEncap(extended) && encap === undefined) {
    return `hblAttr.encapNum is ${encapNum}, and the port of the queue pair has no open encapsulation of that number`;
  }
  return priority < 1 || priority > 3 ? `hblAttr.priority is ${priority}; it is 1 to 3` : undefined;
}

/** The open encapsulation that the attributes name: the queue pair keeps it. */
function usedEncap(qp: QueuePair, attr: HblModify, extended: Extended): NativeHandle | undefined {
  const connects = attr.qpState === QpState.RTR || attr.qpState === QpState.RTS;
  if (!connects || !hasEncap(extended)) return undefined;
  const known = native.qpPort(handleOf(qp, 'QueuePair', 'qp', 'hbldv_modify_qp'));
  // Of a queue pair that came to INIT by `qp.modify`.
  const portNum = known === 0 ? qp.query(QpAttrMask.PORT).attr.portNum : known;
  const encap = findEncap(qp.context, portNum, extended.encapNum);
  if (encap === undefined) return undefined;
  return handleOf(encap, 'Encap', 'hblAttr.encapNum', 'hbldv_modify_qp');
}

const checkHblAttr = fields({
  caps: or(u64(), 0n),
  localKey: or(u32(), 0),
  remoteKey: or(u32(), 0),
  congestionWnd: or(u32(), 0),
  destWqSize: or(u32(), 0),
  wqType: or(u32(), QpWqTypes.WRITE),
  wqGranularity: or(u32(), SwqGranularity.GRAN_32B),
  priority: or(u8(), 1),
  encapNum: or(u8(), 0),
  collLagIdx: or(u8(), 0),
  collLastInLag: or(u8(), 0),
  collLagSize: or(u8(), 0),
  qpToMigrate: or(queuePair, undefined),
});

function queuePair(value: unknown, path: string): QueuePair {
  handleOf(value, 'QueuePair', path, 'hbldv_modify_qp');
  return value as QueuePair;
}

/**
 * `hbldv_migrate_qp`: moves the traffic of a queue pair to the one that was connected with it as `qpToMigrate`. Of the
 * Gaudi SDK's library.
 *
 * @throws VerbsError EOPNOTSUPP if the library does not have the function
 * @example migrateQp(qp);
 */
export function migrateQp(qp: QueuePair): void {
  const syscall = 'hbldv_migrate_qp';
  const { hbl, handle } = forQueuePair(qp, syscall);
  check(-Math.abs(native.migrateQp(hbl, handle)), syscall);
}

/** `struct hbldv_query_qp_attr`; the mapped send work queue is an object with bounds. */
export interface QueryQpAttr {
  /** The hardware's number, from INIT on; 0 before. Doorbells name it, and the peer connects to it. */
  qpNum: number;
  /** Present from RTS on, if the port has an array of work queues. */
  sendQueue: SendWorkQueue | undefined;
  /** Whether the receive work queue is mapped. */
  receiveQueueMapped: boolean;
}

/**
 * `hbldv_query_qp`: the hardware's number of a queue pair, and its mapped queues once it is in RTS.
 *
 * @throws TypeError for a value that is no QueuePair; VerbsError EOPNOTSUPP for a queue pair of another vendor's device
 */
export function queryQp(qp: QueuePair): QueryQpAttr {
  const syscall = 'hbldv_query_qp';
  const { hbl, handle } = forQueuePair(qp, syscall);
  const { qpNum, sendQueue, receiveQueueMapped } = checked(native.queryQp(hbl, handle), syscall);
  return { qpNum, sendQueue: sendQueue && new SendWorkQueue(qp, sendQueue), receiveQueueMapped };
}

/** The mapped send work queue of a queue pair. The program writes entries; a doorbell announces them. */
export class SendWorkQueue {
  /** The queue pair that it belongs to. */
  readonly qp: QueuePair;
  /** The number of entries: `maxSendWr` of the queue pair, rounded up to a power of two. */
  readonly entries: number;
  /** Bytes of an entry. */
  readonly entrySize: 32 | 64;

  /** @internal */
  constructor(qp: QueuePair, { entries, entrySize }: NativeSendQueue) {
    this.qp = qp;
    this.entries = entries;
    this.entrySize = entrySize;
  }

  /**
   * Writes an entry: number `index`, counted from the creation of the queue, goes into slot `index % entries`. The
   * previous entry in that slot must have completed; nothing of it stays where the new one is shorter.
   *
   * @returns the index for the doorbell that announces this entry and all before it
   * @throws VerbsError EINVAL if the queue is not mapped any more, or if another one is after a RESET: ask `queryQp`
   *   again; RangeError, VerbsError ERANGE for more bytes than an entry has; TypeError for `strides` in a queue of 32-byte
   *   entries
   */
  write(index: number, wqe: Wqe | Uint8Array): number {
    const syscall = 'hbldv_query_qp';
    validate.integer(index, 'index', 0, Number.MAX_SAFE_INTEGER);
    const bytes = types.isUint8Array(wqe) ? uint8Array(wqe, 'wqe') : encodeWqe(wqe);
    if (bytes !== wqe && bytes.byteLength > this.entrySize) {
      throw validate.valueError(
        'wqe.strides',
        'needs entries of 64 bytes: wqGranularity GRAN_64B of modifyQp() at INIT',
      );
    }
    if (bytes.byteLength > this.entrySize) {
      throw validate.rangeError('wqe.byteLength', `at most ${this.entrySize}, the size of an entry`, bytes.byteLength);
    }
    const { hbl, handle } = forQueuePair(this.qp, syscall);
    check(native.writeSendQueue(hbl, handle, index, bytes, this.entries, this.entrySize), syscall);
    return (index + 1) & INDEX_MASK;
  }
}

function forQueuePair(qp: QueuePair, syscall: string): { hbl: NativeLibrary; handle: NativeHandle } {
  const handle = handleOf(qp, 'QueuePair', 'qp', syscall);
  return { hbl: forContext(qp.context, syscall).vendor, handle };
}
