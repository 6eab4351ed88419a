import { inspect } from 'node:util';
import { type ProtectionDomain, sibling } from '@verbs/core';
import { made } from './calls.js';
import { forObject, libraryFor } from './libraries.js';
import { native, type NativeHandle } from './native.js';

const { Resource, validate } = sibling;

/** `enum mlx5dv_mkey_init_attr_flags`, to be or-ed. */
export const MkeyInitAttrFlags = {
  INDIRECT: 1 << 0,
  BLOCK_SIGNATURE: 1 << 1,
  CRYPTO: 1 << 2,
  UPDATE_TAG: 1 << 3,
  REMOTE_INVALIDATE: 1 << 4,
} as const;

/** `enum mlx5dv_mkey_err_type`. */
export const MkeyErrType = {
  NO_ERR: 0,
  SIG_BLOCK_BAD_GUARD: 1,
  SIG_BLOCK_BAD_REFTAG: 2,
  SIG_BLOCK_BAD_APPTAG: 3,
} as const;

/** `struct mlx5dv_mkey_err`: the last signature error of an mkey. */
export interface MkeyErr {
  /** {@link MkeyErrType} */
  errType: number;
  actualValue: bigint;
  expectedValue: bigint;
  /** Bytes from the start of the transfer. */
  offset: bigint;
}

/**
 * `struct mlx5dv_mkey`: a key over several memory regions, or with signatures or encryption. Made by {@link createMkey};
 * `close()` is `mlx5dv_destroy_mkey`.
 */
export class Mkey extends Resource {
  readonly pd: ProtectionDomain;
  readonly lkey: number;
  readonly rkey: number;

  /** @internal */
  constructor(pd: ProtectionDomain, made: { handle: NativeHandle; lkey: number; rkey: number }) {
    super('Mkey', made.handle, 'mlx5dv_destroy_mkey', [pd]);
    this.pd = pd;
    this.lkey = made.lkey;
    this.rkey = made.rkey;
  }

  /** `mlx5dv_mkey_check` (`_mlx5dv_mkey_check`): the last signature error, which is forgotten. @throws VerbsError */
  check(): MkeyErr {
    const syscall = '_mlx5dv_mkey_check';
    const library = libraryFor(this.pd.context.device.library, syscall);
    return made(native.mkeyCheck(this.use(syscall)), { library, syscall });
  }

  protected override describe(): Record<string, unknown> {
    const hex = (value: number) => ({ [inspect.custom]: () => `0x${value.toString(16)}` });
    return { lkey: hex(this.lkey), rkey: hex(this.rkey) };
  }
}

/**
 * `mlx5dv_create_mkey`.
 *
 * @param attr `createFlags`: {@link MkeyInitAttrFlags}, or-ed, INDIRECT among them; `maxEntries`: so many regions at most
 * @throws VerbsError EOPNOTSUPP, EINVAL, ENOMEM
 */
export function createMkey(pd: ProtectionDomain, attr: { createFlags: number; maxEntries: number }): Mkey {
  const syscall = 'mlx5dv_create_mkey';
  const { library, handle } = forObject(pd, 'ProtectionDomain', 'pd', syscall);
  const given = validate.object(attr, 'attr', ['createFlags', 'maxEntries']);
  const flags = validate.integer(given['createFlags'], 'attr.createFlags', 0, 0xffffffff);
  const entries = validate.integer(given['maxEntries'], 'attr.maxEntries', 0, 0xffff);
  return new Mkey(pd, made(native.createMkey(library, handle, flags, entries), { library, syscall }));
}
