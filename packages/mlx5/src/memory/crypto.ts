import type { Context, ProtectionDomain } from '@verbs/core';
import {
  type Check,
  fields,
  flag,
  handle,
  handleOf,
  inspection,
  maybe,
  members,
  type Members,
  or,
  Resource,
  u32,
  uint8Array,
  validate,
} from '@verbs/core/provider';
import { counted, done, made } from '../base/calls.js';
import { forContext, libraryFor } from '../base/libraries.js';
import { native, type NativeHandle } from '../native/index.js';
import type { NativeLogin } from '../native/resources.js';

const CREDENTIAL_BYTES = 48;
const OPAQUE_BYTES = 8;

enum CryptoLoginStateValue {
  /** `MLX5DV_CRYPTO_LOGIN_STATE_VALID`: logged in. */
  VALID = 0,
  /** `MLX5DV_CRYPTO_LOGIN_STATE_NO_LOGIN`: not logged in. */
  NO_LOGIN = 1,
  /** `MLX5DV_CRYPTO_LOGIN_STATE_INVALID`: logged in, but the credential or the import key has become invalid. */
  INVALID = 2,
}
/** `enum mlx5dv_crypto_login_state`. */
export const CryptoLoginState: Members<typeof CryptoLoginStateValue> = members(CryptoLoginStateValue);
/** A value of {@link CryptoLoginState}. A number that comes from C is one as well; another enumeration's value is not. */
export type CryptoLoginState = CryptoLoginStateValue;

enum CryptoKeySizeValue {
  /** `MLX5DV_CRYPTO_KEY_SIZE_128`: AES-128. */
  BITS_128 = 0,
  /** `MLX5DV_CRYPTO_KEY_SIZE_256`: AES-256. */
  BITS_256 = 1,
}
/** `enum mlx5dv_crypto_key_size`. */
export const CryptoKeySize: Members<typeof CryptoKeySizeValue> = members(CryptoKeySizeValue);
/** A value of {@link CryptoKeySize}. A number that comes from C is one as well; another enumeration's value is not. */
export type CryptoKeySize = CryptoKeySizeValue;

enum CryptoKeyPurposeValue {
  /** `MLX5DV_CRYPTO_KEY_PURPOSE_AES_XTS`: encryption of blocks, as for disks. */
  AES_XTS = 0,
}
/** `enum mlx5dv_crypto_key_purpose`. */
export const CryptoKeyPurpose: Members<typeof CryptoKeyPurposeValue> = members(CryptoKeyPurposeValue);
/** A value of {@link CryptoKeyPurpose}. A number that comes from C is one as well; another enumeration's value is not. */
export type CryptoKeyPurpose = CryptoKeyPurposeValue;

enum DekStateValue {
  /** `MLX5DV_DEK_STATE_READY`: the key is usable. */
  READY = 0,
  /** `MLX5DV_DEK_STATE_ERROR`: the key is unusable; create a new one. */
  ERROR = 1,
}
/** `enum mlx5dv_dek_state`. */
export const DekState: Members<typeof DekStateValue> = members(DekStateValue);
/** A value of {@link DekState}. A number that comes from C is one as well; another enumeration's value is not. */
export type DekState = DekStateValue;

/** `struct mlx5dv_crypto_login_attr`, and `struct mlx5dv_crypto_login_attr_ex`. */
export interface CryptoLoginAttr {
  /** The number of a credential that the device's administrator stored, 32 bits. */
  credentialId: number;
  /** The number of the stored key encryption key that unwraps keys, 32 bits. */
  importKekId: number;
  /** 48 bytes; {@link cryptoLoginCreate} also takes a wrapped credential of 40 bytes. */
  credential: Uint8Array;
}

function loginFields(attr: CryptoLoginAttr, sizes: readonly number[]): NativeLogin {
  const check = fields({ credentialId: u32(), importKekId: u32(), credential: bytesOf(sizes) });
  return check(attr, 'attr');
}

/** The check of a field of bytes of one of these sizes. */
function bytesOf(sizes: readonly number[]): Check<Uint8Array> {
  return (value, path) => {
    const bytes = uint8Array(value, path);
    if (sizes.includes(bytes.byteLength)) return bytes;
    throw validate.rangeError(`${path}.byteLength`, sizes.join(' or '), bytes.byteLength);
  };
}

/** `mlx5dv_crypto_login`: the context may use wrapped keys from now on. @throws VerbsError EOPNOTSUPP, EINVAL, EEXIST */
export function cryptoLogin(ctx: Context, attr: CryptoLoginAttr): void {
  const syscall = 'mlx5dv_crypto_login';
  const { library, handle } = forContext(ctx, syscall);
  done(native.cryptoLogin(library, handle, loginFields(attr, [CREDENTIAL_BYTES])), { library, syscall });
}

/** `mlx5dv_crypto_login_query_state`: {@link CryptoLoginState}. @throws VerbsError EOPNOTSUPP */
export function cryptoLoginQueryState(ctx: Context): CryptoLoginState {
  const syscall = 'mlx5dv_crypto_login_query_state';
  const { library, handle } = forContext(ctx, syscall);
  return counted(native.cryptoLoginQueryState(library, handle), { library, syscall });
}

/** `mlx5dv_crypto_logout`. @throws VerbsError EOPNOTSUPP, ENOENT (no login) */
export function cryptoLogout(ctx: Context): void {
  const syscall = 'mlx5dv_crypto_logout';
  const { library, handle } = forContext(ctx, syscall);
  done(native.cryptoLogout(library, handle), { library, syscall });
}

/**
 * `struct mlx5dv_crypto_login_obj`: a login as an object. Made by {@link cryptoLoginCreate}; `close()` is
 * `mlx5dv_crypto_login_destroy`.
 */
export class CryptoLogin extends Resource {
  /** The open device that it belongs to. */
  readonly context: Context;

  /** @internal */
  constructor(context: Context, handle: NativeHandle) {
    super('CryptoLogin', handle, 'mlx5dv_crypto_login_destroy', [context]);
    this.context = context;
  }

  /** `mlx5dv_crypto_login_query`: {@link CryptoLoginState}. @throws VerbsError */
  query(): CryptoLoginState {
    const syscall = 'mlx5dv_crypto_login_query';
    const library = libraryFor(this.context.device.library, syscall);
    return counted(native.cryptoLoginQuery(this.use(syscall)), { library, syscall });
  }

  protected override describe(): Record<string, unknown> {
    return { context: inspection.brief(this.context) };
  }
}

/** `mlx5dv_crypto_login_create`. @throws VerbsError EOPNOTSUPP, EINVAL */
export function cryptoLoginCreate(ctx: Context, attr: CryptoLoginAttr): CryptoLogin {
  const syscall = 'mlx5dv_crypto_login_create';
  const { library, handle } = forContext(ctx, syscall);
  const fields = loginFields(attr, [CREDENTIAL_BYTES, 40]);
  return new CryptoLogin(ctx, made(native.cryptoLoginCreate(library, handle, fields), { library, syscall }));
}

/** `struct mlx5dv_dek_init_attr`. */
export interface DekInitAttr {
  /** {@link CryptoKeySize} */
  keySize: CryptoKeySize;
  /** Whether the key has a tag of 8 bytes behind it. */
  hasKeytag?: boolean;
  /** {@link CryptoKeyPurpose}, default AES_XTS. */
  keyPurpose?: CryptoKeyPurpose;
  /** 8 bytes of the program, to recognise the key by; default zeros. */
  opaque?: Uint8Array;
  /** At most 128 bytes, wrapped or plain. */
  key: Uint8Array;
  /** The login for the import of a wrapped key; default {@link cryptoLogin}. */
  cryptoLogin?: CryptoLogin;
}

/** `struct mlx5dv_dek`: a data encryption key. Made by {@link dekCreate}; `close()` is `mlx5dv_dek_destroy`. */
export class Dek extends Resource {
  /** The protection domain that it belongs to. */
  readonly pd: ProtectionDomain;

  /** @internal */
  constructor(pd: ProtectionDomain, handle: NativeHandle, login: CryptoLogin | undefined) {
    super('Dek', handle, 'mlx5dv_dek_destroy', login === undefined ? [pd] : [pd, login]);
    this.pd = pd;
  }

  /** `mlx5dv_dek_query`: {@link DekState}, and `opaque` of its creation. @throws VerbsError */
  query(): {
    /** See {@link DekState}. */
    state: DekState;
    /** 8 bytes. */
    opaque: Uint8Array;
  } {
    const syscall = 'mlx5dv_dek_query';
    const library = libraryFor(this.pd.context.device.library, syscall);
    return made(native.dekQuery(this.use(syscall)), { library, syscall });
  }

  protected override describe(): Record<string, unknown> {
    return { pd: inspection.brief(this.pd) };
  }
}

function keyBytes(value: unknown, path: string): Uint8Array {
  const key = uint8Array(value, path);
  if (key.byteLength <= 128) return key;
  throw validate.rangeError(`${path}.byteLength`, 'at most 128', key.byteLength);
}

/** `mlx5dv_dek_create`. @throws VerbsError EOPNOTSUPP, EINVAL */
export function dekCreate(pd: ProtectionDomain, attr: DekInitAttr): Dek {
  const syscall = 'mlx5dv_dek_create';
  const domain = handleOf(pd, 'ProtectionDomain', 'pd', syscall);
  const { library, handle: context } = forContext(pd.context, syscall);
  const check = fields({
    keySize: u32(),
    hasKeytag: flag(),
    keyPurpose: or(u32(), CryptoKeyPurpose.AES_XTS),
    opaque: or(bytesOf([OPAQUE_BYTES]), new Uint8Array(OPAQUE_BYTES)),
    key: keyBytes,
    cryptoLogin: maybe(handle('CryptoLogin', syscall)),
  });
  const once = validate.object(attr, 'attr', check.names) as unknown as DekInitAttr;
  const given = check(once, 'attr');
  return new Dek(pd, made(native.dekCreate(library, context, domain, given), { library, syscall }), once.cryptoLogin);
}
