import type { ProtectionDomain, QpInitAttr, QpType, QueuePair } from '@verbs/core';
import {
  adoptQp,
  fields,
  maybe,
  members,
  type Members,
  nativeQpInitAttr,
  u32,
  u64,
  u8,
  unchecked,
  validate,
} from '@verbs/core/provider';
import { made } from '../base/calls.js';
import { forObject } from '../base/libraries.js';
import { native } from '../native/index.js';
import { maskedFields } from './masked-fields.js';

enum Mlx5QpCreateFlagsValue {
  /** `MLX5DV_QP_CREATE_TUNNEL_OFFLOADS`: RAW_PACKET: offloads apply inside tunnels. */
  TUNNEL_OFFLOADS = 1 << 0,
  /** `MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_UC`: RAW_PACKET: it receives unicast that its own port sends. */
  TIR_ALLOW_SELF_LOOPBACK_UC = 1 << 1,
  /** `MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_MC`: RAW_PACKET: it receives multicast that its own port sends. */
  TIR_ALLOW_SELF_LOOPBACK_MC = 1 << 2,
  /** `MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE`: small messages are never put into the completion entry. */
  DISABLE_SCATTER_TO_CQE = 1 << 3,
  /** `MLX5DV_QP_CREATE_ALLOW_SCATTER_TO_CQE`: small messages may be put there, also for DC queue pairs. */
  ALLOW_SCATTER_TO_CQE = 1 << 4,
  /** `MLX5DV_QP_CREATE_PACKET_BASED_CREDIT_MODE`: RC has credits for packets instead of messages. */
  PACKET_BASED_CREDIT_MODE = 1 << 5,
  /**
   * `MLX5DV_QP_CREATE_SIG_PIPELINING`: after a signature error the send queue stops (SQD), so that the next request
   * does not use bad data.
   */
  SIG_PIPELINING = 1 << 6,
}
/** `enum mlx5dv_qp_create_flags`, or-ed. */
export const Mlx5QpCreateFlags: Members<typeof Mlx5QpCreateFlagsValue> = members(Mlx5QpCreateFlagsValue);
/** Or-ed values of {@link Mlx5QpCreateFlags}, or 0. A number that comes from C is one as well; another enumeration's value is not. */
export type Mlx5QpCreateFlags = Mlx5QpCreateFlagsValue | 0;

enum Mlx5SendOpsFlagsValue {
  /** `MLX5DV_QP_EX_WITH_MR_INTERLEAVED`: `mlx5dv_wr_mr_interleaved`. */
  MR_INTERLEAVED = 1 << 0,
  /** `MLX5DV_QP_EX_WITH_MR_LIST`: `mlx5dv_wr_mr_list`. */
  MR_LIST = 1 << 1,
  /** `MLX5DV_QP_EX_WITH_MKEY_CONFIGURE`: `mlx5dv_wr_mkey_configure` and its setters. */
  MKEY_CONFIGURE = 1 << 2,
  /** `MLX5DV_QP_EX_WITH_RAW_WQE`: `mlx5dv_wr_raw_wqe`. */
  RAW_WQE = 1 << 3,
  /** `MLX5DV_QP_EX_WITH_MEMCPY`: `mlx5dv_wr_memcpy`. */
  MEMCPY = 1 << 4,
}
/** `enum mlx5dv_qp_create_send_ops_flags`, or-ed. */
export const Mlx5SendOpsFlags: Members<typeof Mlx5SendOpsFlagsValue> = members(Mlx5SendOpsFlagsValue);
/** Or-ed values of {@link Mlx5SendOpsFlags}, or 0. A number that comes from C is one as well; another enumeration's value is not. */
export type Mlx5SendOpsFlags = Mlx5SendOpsFlagsValue | 0;

enum DcTypeValue {
  /** The receiving side. */
  DCT = 1,
  /** The sending side. */
  DCI = 2,
}
/** `enum mlx5dv_dc_type`: dynamically connected queue pairs, with QpType.DRIVER. */
export const DcType: Members<typeof DcTypeValue> = members(DcTypeValue);
/** A value of {@link DcType}. A number that comes from C is one as well; another enumeration's value is not. */
export type DcType = DcTypeValue;

/** `struct mlx5dv_qp_init_attr`: the given fields set their bits in `comp_mask`. */
export interface Mlx5QpInitAttr {
  /** {@link Mlx5QpCreateFlags}, or-ed. */
  createFlags?: Mlx5QpCreateFlags;
  /** {@link Mlx5SendOpsFlags}, or-ed. */
  sendOpsFlags?: Mlx5SendOpsFlags;
  /** `struct mlx5dv_dc_init_attr`: a dynamically connected queue pair. */
  dcInitAttr?:
    | {
        /** The receiving side. */
        dcType: typeof DcType.DCT;
        /** The key that a sender must present, 64 bits. */
        dctAccessKey: bigint | number;
      }
    | {
        /** The sending side. */
        dcType: typeof DcType.DCI;
        /** `struct mlx5dv_dci_streams`: independent streams. */
        dciStreams?: {
          /** The number of streams, as a power of two. */
          logNumConcurent: number;
          /** The number of streams that may fail before the queue pair does, as a power of two. */
          logNumErrored: number;
        };
      };
}

const DC = 2n;
const DCI_STREAMS = 8n;

const checkNumbers = maskedFields(
  { createFlags: maybe(u32()), sendOpsFlags: maybe(u32()) },
  { createFlags: 1, sendOpsFlags: 4 },
);
const checkAttr = fields({ createFlags: unchecked, sendOpsFlags: unchecked, dcInitAttr: unchecked });
const checkDc = fields({
  dcType: u32(),
  dctAccessKey: maybe(u64()),
  dciStreams: maybe(fields({ logNumConcurent: u8(), logNumErrored: u8() })),
});

/** The access key of a DCT, or the streams of a DCI. */
function dcFields(value: unknown) {
  const path = 'mlx5Attr.dcInitAttr';
  const { dcType, dctAccessKey, dciStreams } = checkDc(value, path);
  // In C they are one union.
  if (dcType === DcType.DCT ? dciStreams !== undefined : dctAccessKey !== undefined) {
    const [name, of] = dcType === DcType.DCT ? ['dciStreams', 'DCI'] : ['dctAccessKey', 'DCT'];
    throw validate.valueError(`${path}.${name}`, `is for DcType.${of}`);
  }
  // The key 0 would be one that every sender knows.
  if (dcType === DcType.DCT) validate.u64(dctAccessKey, `${path}.dctAccessKey`);
  if (dctAccessKey !== undefined) return { mask: DC, dcType, dctAccessKey };
  if (dciStreams === undefined) return { mask: DC, dcType };
  return { mask: DC | DCI_STREAMS, dcType, ...dciStreams };
}

/**
 * `mlx5dv_create_qp`: `pd.createQp` with mlx5's own attributes.
 *
 * @throws VerbsError EINVAL, EOPNOTSUPP (the device lacks an attribute)
 * @example
 * const attr = { qpType: QpType.RAW_PACKET, sendCq: cq, recvCq: cq, cap: { maxSendWr: 16, maxRecvWr: 16 } };
 * const qp = createQp(pd, attr, { createFlags: Mlx5QpCreateFlags.TIR_ALLOW_SELF_LOOPBACK_UC });
 */
export function createQp<const T extends QpType>(
  pd: ProtectionDomain,
  attr: QpInitAttr<T>,
  mlx5Attr: Mlx5QpInitAttr = {},
): QueuePair<T> {
  const syscall = 'mlx5dv_create_qp';
  const { library, handle } = forObject(pd, 'ProtectionDomain', 'pd', syscall);
  const init = nativeQpInitAttr(attr, 'attr', handle);
  const { dcInitAttr, ...rest } = checkAttr(mlx5Attr, 'mlx5Attr');
  const numbers = checkNumbers(rest, 'mlx5Attr');
  const { mask, ...dc } = dcInitAttr === undefined ? { mask: 0n } : dcFields(dcInitAttr);
  const result = native.createQp(library, init, { ...numbers, ...dc, compMask: numbers.compMask | mask });
  return adoptQp(pd, attr, made(result, { library, syscall }));
}
