import { errno } from '../base/errno.js';
import { check } from '../base/errors.js';
import { fields, or, u16, u32 } from '../base/fields.js';
import { gidBytes, gidText } from '../base/gid.js';
import { native, type NativeHandle } from '../base/native.js';
import { integer, optional } from '../base/validate.js';
import { enumName, QpType } from '../enums/index.js';
import type { FullQpAttr, QpCap } from '../types/qp-attr.js';

// Calls that change or query a queue pair and need nothing of its object but the native handle.

/** The result of {@link QueuePair.query}. */
export interface QpQuery {
  /** The attributes that `modify` sets. */
  attr: FullQpAttr;
  /** The attributes of its creation. */
  initAttr: {
    /** See {@link QpType}. */
    qpType: QpType;
    /** Whether every send request completes visibly. */
    sqSigAll: boolean;
    /** The capacities that the device granted, at least the requested ones. */
    cap: Required<QpCap>;
  };
}

/** `struct ibv_ece`: enhancements of a connection that only devices of one vendor have. */
export interface Ece {
  /** Whose enhancements they are. */
  vendorId: number;
  /** Which ones, in the vendor's own bits: 32. */
  options: number;
}

const rate = fields({ rateLimit: u32(), maxBurstSz: or(u32(), 0), typicalPktSz: or(u16(), 0) });
const enhancements = fields({ vendorId: u32(), options: u32() });

export function attachMcast(qp: NativeHandle, qpType: number, gid: unknown, lid: unknown): void {
  const group = gidBytes(gid, 'gid');
  const result = native.attachMcast(qp, group, optional(lid, 'lid', 0xffff, 0));
  const hint = Math.abs(result) === errno.EINVAL ? groupReason(qpType, group) : undefined;
  check(-Math.abs(result), 'ibv_attach_mcast', { hint });
}

export function detachMcast(qp: NativeHandle, qpType: number, gid: unknown, lid: unknown): void {
  const group = gidBytes(gid, 'gid');
  const result = native.detachMcast(qp, group, optional(lid, 'lid', 0xffff, 0));
  const absent = `the queue pair is not attached to ${gidText(group)}: give the GID (and the LID) of attachMcast(), once`;
  const hint = Math.abs(result) === errno.EINVAL ? (groupReason(qpType, group) ?? absent) : undefined;
  check(-Math.abs(result), 'ibv_detach_mcast', { hint });
}

/** Why a queue pair cannot be in a group. */
function groupReason(qpType: number, group: Uint8Array): string | undefined {
  if (qpType !== QpType.UD) return `groups are for queue pairs of UD, and this one is of ${enumName(QpType, qpType)}`;
  const text = gidText(group);
  const multicast = group[0] === 0xff || (text.startsWith('::ffff:') && ((group[12] ?? 0) & 0xf0) === 0xe0);
  return multicast
    ? undefined
    : `gid ${text} is no multicast group: a group begins with ff, as ff0e::1, or is ::ffff:224.0.0.0 to ::ffff:239.255.255.255`;
}

export function modifyRateLimit(qp: NativeHandle, attr: unknown): void {
  const { rateLimit, maxBurstSz, typicalPktSz } = rate(attr, 'attr');
  check(-Math.abs(native.modifyQpRateLimit(qp, rateLimit, maxBurstSz, typicalPktSz)), 'ibv_modify_qp_rate_limit');
}

export function setEce(qp: NativeHandle, ece: unknown): void {
  const { vendorId, options } = enhancements(ece, 'ece');
  check(-Math.abs(native.setEce(qp, vendorId, options)), 'ibv_set_ece');
}

export function queryDataInOrder(qp: NativeHandle, opcode: unknown, flags: unknown): boolean {
  const operation = integer(opcode, 'opcode', 0, 0xffff);
  return native.queryQpDataInOrder(qp, operation, optional(flags, 'flags', 0x7fffffff, 0)) > 0;
}
