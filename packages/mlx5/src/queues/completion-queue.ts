import type { CompletionQueue, Context, CqOptions } from '@verbs/core';
import { adoptCq, maybe, members, type Members, nativeCqOptions, u16, u31, u32, u8 } from '@verbs/core/provider';
import { made } from '../base/calls.js';
import { forContext } from '../base/libraries.js';
import { native } from '../native/index.js';
import { maskedFields } from './masked-fields.js';

/** The fields of `struct ibv_wc`. */
const STANDARD_WC = 0x7fn;

enum CqeCompResFormatValue {
  /** `MLX5DV_CQE_RES_FORMAT_HASH`: the short entries keep the hash of receive side scaling. */
  HASH = 1,
  /** `MLX5DV_CQE_RES_FORMAT_CSUM`: they keep the checksum. */
  CSUM = 2,
  /** `MLX5DV_CQE_RES_FORMAT_CSUM_STRIDX`: they keep the checksum and the index of the stride. */
  CSUM_STRIDX = 4,
}
/** `enum mlx5dv_cqe_comp_res_format`. */
export const CqeCompResFormat: Members<typeof CqeCompResFormatValue> = members(CqeCompResFormatValue);
/** A value of {@link CqeCompResFormat}. A number that comes from C is one as well; another enumeration's value is not. */
export type CqeCompResFormat = CqeCompResFormatValue;

enum Mlx5CqFlagsValue {
  /** `MLX5DV_CQ_INIT_ATTR_FLAGS_CQE_PAD`: the device pads an entry of 64 bytes to a cache line of 128. */
  CQE_PAD = 1,
}
/** `enum mlx5dv_cq_init_attr_flags`. */
export const Mlx5CqFlags: Members<typeof Mlx5CqFlagsValue> = members(Mlx5CqFlagsValue);
/** Or-ed values of {@link Mlx5CqFlags}, or 0. A number that comes from C is one as well; another enumeration's value is not. */
export type Mlx5CqFlags = Mlx5CqFlagsValue | 0;

/** `struct mlx5dv_cq_init_attr`: the given fields set their bits in `comp_mask`. */
export interface Mlx5CqInitAttr {
  /** {@link CqeCompResFormat}: the device may write several completions into one entry. */
  cqeCompResFormat?: CqeCompResFormat;
  /** {@link Mlx5CqFlags}, or-ed. */
  flags?: Mlx5CqFlags;
  /** Bytes of an entry: 64 or 128. */
  cqeSize?: number;
}

const checkAttr = maskedFields(
  { cqeCompResFormat: maybe(u8()), flags: maybe(u32()), cqeSize: maybe(u16()) },
  { cqeCompResFormat: 1, flags: 2, cqeSize: 4 },
);

/**
 * `mlx5dv_create_cq`: `ctx.createCq` with `wcFlags`, and with mlx5's own attributes.
 *
 * @throws VerbsError EINVAL, EOPNOTSUPP (the device lacks an attribute)
 * @example const cq = createCq(ctx, 64, { wcFlags: WcExFlags.FLOW_TAG }, { cqeSize: 128 });
 */
export function createCq(
  ctx: Context,
  cqe: number,
  options: CqOptions = {},
  mlx5Attr: Mlx5CqInitAttr = {},
): CompletionQueue {
  const syscall = 'mlx5dv_create_cq';
  const { library, handle } = forContext(ctx, syscall);
  u31(1)(cqe, 'cqe');
  const { given, channel, compVector, extended = { wcFlags: STANDARD_WC, flags: 0 } } = nativeCqOptions(options, ctx);
  const attr = checkAttr(mlx5Attr, 'mlx5Attr');
  const result = native.createCq(library, handle, cqe, channel, compVector, extended, attr);
  const queue = made(result, { library, syscall, detail: `of ${cqe} entries` });
  const { parentDomain } = given;
  return adoptCq(ctx, given.channel, queue, { wcFlags: Number(extended.wcFlags), parentDomain });
}
