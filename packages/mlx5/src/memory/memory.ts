import type { AccessFlags, Context, DeviceMemory, MemoryRegion, ProtectionDomain } from '@verbs/core';
import {
  accessOf,
  adoptDm,
  adoptMr,
  fields,
  members,
  type Members,
  or,
  range,
  u31,
  u32,
  u53,
  u64,
} from '@verbs/core/provider';
import { made } from '../base/calls.js';
import { forContext, forObject } from '../base/libraries.js';
import { native } from '../native/index.js';

enum DmTypeValue {
  /** `MLX5DV_DM_TYPE_MEMIC`: memory for programs, the type of `ctx.allocDm`. */
  MEMIC = 0,
  /** `MLX5DV_DM_TYPE_STEERING_SW_ICM`: memory for steering rules. */
  STEERING_SW_ICM = 1,
  /** `MLX5DV_DM_TYPE_HEADER_MODIFY_SW_ICM`: memory for modify header actions. */
  HEADER_MODIFY_SW_ICM = 2,
  /** `MLX5DV_DM_TYPE_HEADER_MODIFY_PATTERN_SW_ICM`: memory for patterns of modify header actions. */
  HEADER_MODIFY_PATTERN_SW_ICM = 3,
}
/** `enum mlx5dv_alloc_dm_type`. */
export const DmType: Members<typeof DmTypeValue> = members(DmTypeValue);
/** A value of {@link DmType}. A number that comes from C is one as well; another enumeration's value is not. */
export type DmType = DmTypeValue;

const checkOptions = fields({ type: or(u32(), DmType.MEMIC), logAlignment: or(range(0, 63), 0) });

/**
 * `mlx5dv_alloc_dm`: `ctx.allocDm` with a type.
 *
 * @param length bytes
 * @param options `type`: {@link DmType}, default MEMIC; `logAlignment`: the alignment as a power of two, default 0
 * @throws VerbsError EOPNOTSUPP, ENOMEM, EINVAL
 */
export function allocDm(
  ctx: Context,
  length: number,
  options: { type?: DmType; logAlignment?: number } = {},
): DeviceMemory {
  const syscall = 'mlx5dv_alloc_dm';
  const { library, handle } = forContext(ctx, syscall);
  const bytes = u53(1)(length, 'length');
  const { type, logAlignment } = checkOptions(options, 'options');
  const result = native.allocDm(library, handle, bytes, logAlignment, type);
  return adoptDm(ctx, made(result, { library, syscall, detail: `of ${length} bytes` }), length);
}

enum DmabufAccessValue {
  /** The device reaches the memory by its data direct function, past the root complex. */
  DATA_DIRECT = 1,
}
/** `MLX5DV_REG_DMABUF_ACCESS_*`. */
export const DmabufAccess: Members<typeof DmabufAccessValue> = members(DmabufAccessValue);
/** A value of {@link DmabufAccess}. A number that comes from C is one as well; another enumeration's value is not. */
export type DmabufAccess = DmabufAccessValue;

const checkDmabuf = fields({ length: u53(1), offset: or(u53(), 0), iova: or(u64(), 0n), mlx5Access: or(u31(), 0) });

/**
 * `mlx5dv_reg_dmabuf_mr`: `pd.regDmabufMr` with mlx5's own access flags.
 *
 * @param attr `length` and `offset` in bytes, `iova` (default 0), `mlx5Access`: {@link DmabufAccess}, default 0
 * @throws VerbsError EOPNOTSUPP (also from a libmlx5 before rdma-core 54), EBADF, EINVAL
 */
export function regDmabufMr(
  pd: ProtectionDomain,
  fd: number,
  access: AccessFlags,
  attr: { length: number; offset?: number; iova?: bigint; mlx5Access?: DmabufAccess | 0 },
): MemoryRegion {
  const syscall = 'mlx5dv_reg_dmabuf_mr';
  const { library, handle } = forObject(pd, 'ProtectionDomain', 'pd', syscall);
  u31()(fd, 'fd');
  const rights = accessOf(access);
  const { length, offset, iova, mlx5Access } = checkDmabuf(attr, 'attr');
  const result = native.regDmabufMr(library, handle, BigInt(offset), BigInt(length), iova, fd, rights, mlx5Access);
  return adoptMr(pd, made(result, { library, syscall }), length, rights);
}
