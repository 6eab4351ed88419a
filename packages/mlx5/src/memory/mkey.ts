import type { ProtectionDomain } from '@verbs/core';
import { fields, inspection, members, type Members, Resource, u16, u32 } from '@verbs/core/provider';
import { made } from '../base/calls.js';
import { forObject, libraryFor } from '../base/libraries.js';
import { native, type NativeHandle } from '../native/index.js';

enum MkeyInitAttrFlagsValue {
  /** `MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT`: a key over other keys; every mkey needs it. */
  INDIRECT = 1 << 0,
  /**
   * `MLX5DV_MKEY_INIT_ATTR_FLAGS_BLOCK_SIGNATURE`: blocks of data with signatures, which the device makes and checks.
   */
  BLOCK_SIGNATURE = 1 << 1,
  /** `MLX5DV_MKEY_INIT_ATTR_FLAGS_CRYPTO`: data that the device encrypts and decrypts. */
  CRYPTO = 1 << 2,
  /** `MLX5DV_MKEY_INIT_ATTR_FLAGS_UPDATE_TAG`: the lowest byte of the key may change. */
  UPDATE_TAG = 1 << 3,
  /** `MLX5DV_MKEY_INIT_ATTR_FLAGS_REMOTE_INVALIDATE`: a peer may invalidate it, by SEND_WITH_INV. */
  REMOTE_INVALIDATE = 1 << 4,
}
/** `enum mlx5dv_mkey_init_attr_flags`, or-ed. */
export const MkeyInitAttrFlags: Members<typeof MkeyInitAttrFlagsValue> = members(MkeyInitAttrFlagsValue);
/** Or-ed values of {@link MkeyInitAttrFlags}, or 0. A number that comes from C is one as well; another enumeration's value is not. */
export type MkeyInitAttrFlags = MkeyInitAttrFlagsValue | 0;

enum MkeyErrTypeValue {
  /** `MLX5DV_MKEY_NO_ERR`: there was no error. */
  NO_ERR = 0,
  /** `MLX5DV_MKEY_SIG_BLOCK_BAD_GUARD`: a block's checksum is wrong. */
  SIG_BLOCK_BAD_GUARD = 1,
  /** `MLX5DV_MKEY_SIG_BLOCK_BAD_REFTAG`: a block's reference tag is wrong. */
  SIG_BLOCK_BAD_REFTAG = 2,
  /** `MLX5DV_MKEY_SIG_BLOCK_BAD_APPTAG`: a block's application tag is wrong. */
  SIG_BLOCK_BAD_APPTAG = 3,
}
/** `enum mlx5dv_mkey_err_type`. */
export const MkeyErrType: Members<typeof MkeyErrTypeValue> = members(MkeyErrTypeValue);
/** A value of {@link MkeyErrType}. A number that comes from C is one as well; another enumeration's value is not. */
export type MkeyErrType = MkeyErrTypeValue;

/** `struct mlx5dv_mkey_err`: the last signature error of an mkey. */
export interface MkeyErr {
  /** {@link MkeyErrType} */
  errType: MkeyErrType;
  /** The value in the block. */
  actualValue: bigint;
  /** The right value. */
  expectedValue: bigint;
  /** Bytes from the start of the transfer. */
  offset: bigint;
}

/**
 * `struct mlx5dv_mkey`: a key over several memory regions, or with signatures or encryption. Made by {@link createMkey};
 * `close()` is `mlx5dv_destroy_mkey`.
 */
export class Mkey extends Resource {
  /** The protection domain that it belongs to. */
  readonly pd: ProtectionDomain;
  /** The key for elements of requests, 32 bits. */
  readonly lkey: number;
  /** The key for peers, 32 bits. */
  readonly rkey: number;

  /** @internal */
  constructor(pd: ProtectionDomain, made: { handle: NativeHandle; lkey: number; rkey: number }) {
    super('Mkey', made.handle, 'mlx5dv_destroy_mkey', [pd]);
    this.pd = pd;
    this.lkey = made.lkey;
    this.rkey = made.rkey;
  }

  /** `mlx5dv_mkey_check` (`_mlx5dv_mkey_check`): the last signature error; the call clears it. @throws VerbsError */
  check(): MkeyErr {
    const syscall = '_mlx5dv_mkey_check';
    const library = libraryFor(this.pd.context.device.library, syscall);
    return made(native.mkeyCheck(this.use(syscall)), { library, syscall });
  }

  protected override describe(): Record<string, unknown> {
    return { lkey: inspection.hex(this.lkey), rkey: inspection.hex(this.rkey) };
  }
}

const checkAttr = fields({ createFlags: u32(), maxEntries: u16() });

/**
 * `mlx5dv_create_mkey`.
 *
 * @param attr `createFlags`: {@link MkeyInitAttrFlags}, or-ed, INDIRECT among them; `maxEntries`: the largest number of regions
 * @throws VerbsError EOPNOTSUPP, EINVAL, ENOMEM
 */
export function createMkey(pd: ProtectionDomain, attr: { createFlags: MkeyInitAttrFlags; maxEntries: number }): Mkey {
  const syscall = 'mlx5dv_create_mkey';
  const { library, handle } = forObject(pd, 'ProtectionDomain', 'pd', syscall);
  const { createFlags, maxEntries } = checkAttr(attr, 'attr');
  return new Mkey(pd, made(native.createMkey(library, handle, createFlags, maxEntries), { library, syscall }));
}
