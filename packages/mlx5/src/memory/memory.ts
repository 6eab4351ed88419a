import type { Context, DeviceMemory, MemoryRegion, ProtectionDomain } from '@verbs/core';
import { accessOf, adoptDm, adoptMr, validate } from '@verbs/core/provider';
import { made } from '../base/calls.js';
import { forContext, forObject } from '../base/libraries.js';
import { native } from '../native/index.js';

const MAX = Number.MAX_SAFE_INTEGER;

/** `enum mlx5dv_alloc_dm_type`. */
export const DmType = {
  /** `MLX5DV_DM_TYPE_MEMIC`: memory for programs, as `ctx.allocDm` gives it. */
  MEMIC: 0,
  /** `MLX5DV_DM_TYPE_STEERING_SW_ICM`: memory for steering rules. */
  STEERING_SW_ICM: 1,
  /** `MLX5DV_DM_TYPE_HEADER_MODIFY_SW_ICM`: memory for modify header actions. */
  HEADER_MODIFY_SW_ICM: 2,
  /** `MLX5DV_DM_TYPE_HEADER_MODIFY_PATTERN_SW_ICM`: memory for patterns of modify header actions. */
  HEADER_MODIFY_PATTERN_SW_ICM: 3,
} as const;

/**
 * `mlx5dv_alloc_dm`: as `ctx.allocDm`, of a type.
 *
 * @param length bytes
 * @param options `type`: {@link DmType}, default MEMIC; `logAlignment`: the alignment as a power of two, default 0
 * @throws VerbsError EOPNOTSUPP, ENOMEM, EINVAL
 */
export function allocDm(
  ctx: Context,
  length: number,
  options: { type?: number; logAlignment?: number } = {},
): DeviceMemory {
  const syscall = 'mlx5dv_alloc_dm';
  const { library, handle } = forContext(ctx, syscall);
  validate.integer(length, 'length', 1, MAX);
  const given = validate.object(options, 'options', ['type', 'logAlignment']);
  const type = validate.optional(given['type'], 'options.type', 0xffffffff, DmType.MEMIC);
  const alignment = validate.optional(given['logAlignment'], 'options.logAlignment', 63, 0);
  const result = native.allocDm(library, handle, length, alignment, type);
  return adoptDm(ctx, made(result, { library, syscall, detail: `of ${length} bytes` }), length);
}

/** `MLX5DV_REG_DMABUF_ACCESS_*`. */
export const DmabufAccess = {
  /** The device reaches the memory by its data direct function, past the root complex. */
  DATA_DIRECT: 1,
} as const;

/**
 * `mlx5dv_reg_dmabuf_mr`: as `pd.regDmabufMr`, with mlx5's own rights.
 *
 * @param attr `length` and `offset` in bytes, `iova` (default 0), `mlx5Access`: {@link DmabufAccess}, default 0
 * @throws VerbsError EOPNOTSUPP (also from a libmlx5 without it: it is newer than rdma-core 44), EBADF, EINVAL
 */
export function regDmabufMr(
  pd: ProtectionDomain,
  fd: number,
  access: number,
  attr: { length: number; offset?: number; iova?: bigint; mlx5Access?: number },
): MemoryRegion {
  const syscall = 'mlx5dv_reg_dmabuf_mr';
  const { library, handle } = forObject(pd, 'ProtectionDomain', 'pd', syscall);
  validate.integer(fd, 'fd', 0, 0x7fffffff);
  const rights = accessOf(access);
  const given = validate.object(attr, 'attr', ['length', 'offset', 'iova', 'mlx5Access']);
  const length = validate.integer(given['length'], 'attr.length', 1, MAX);
  const offset = validate.optional(given['offset'], 'attr.offset', MAX, 0);
  const iova = BigInt(validate.u64(given['iova'] ?? 0n, 'attr.iova'));
  const more = validate.optional(given['mlx5Access'], 'attr.mlx5Access', 0x7fffffff, 0);
  const result = native.regDmabufMr(library, handle, BigInt(offset), BigInt(length), iova, fd, rights, more);
  return adoptMr(pd, made(result, { library, syscall }), length, rights);
}
