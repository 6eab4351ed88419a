import { check } from '../base/errors.js';
import { fields, or, u16, u32 } from '../base/fields.js';
import { gidBytes } from '../base/gid.js';
import { native, type NativeHandle } from '../base/native.js';
import { integer, optional } from '../base/validate.js';
import type { QpType } from '../enums/index.js';
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

export function attachMcast(qp: NativeHandle, gid: unknown, lid: unknown): void {
  const group = gidBytes(gid, 'gid');
  check(-Math.abs(native.attachMcast(qp, group, optional(lid, 'lid', 0xffff, 0))), 'ibv_attach_mcast');
}

export function detachMcast(qp: NativeHandle, gid: unknown, lid: unknown): void {
  const group = gidBytes(gid, 'gid');
  check(-Math.abs(native.detachMcast(qp, group, optional(lid, 'lid', 0xffff, 0))), 'ibv_detach_mcast');
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
