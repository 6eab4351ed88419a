import { types } from 'node:util';
import type { Context, ProtectionDomain } from '@verbs/core';
import { handleOf, inspection, Resource, validate } from '@verbs/core/provider';
import { counted, done, made } from '../base/calls.js';
import { forContext, libraryFor } from '../base/libraries.js';
import { native, type NativeHandle } from '../native/index.js';
import type { NativeLogin } from '../native/resources.js';

const U32 = 0xffffffff;
const CREDENTIAL_BYTES = 48;
const OPAQUE_BYTES = 8;

/** `enum mlx5dv_crypto_login_state`. */
export const CryptoLoginState = {
  /** `MLX5DV_CRYPTO_LOGIN_STATE_VALID`: logged in. */
  VALID: 0,
  /** `MLX5DV_CRYPTO_LOGIN_STATE_NO_LOGIN`: not logged in. */
  NO_LOGIN: 1,
  /** `MLX5DV_CRYPTO_LOGIN_STATE_INVALID`: logged in, but the credential or the import key is not valid any more. */
  INVALID: 2,
} as const;
/** `enum mlx5dv_crypto_key_size`. */
export const CryptoKeySize = {
  /** `MLX5DV_CRYPTO_KEY_SIZE_128`: AES-128. */
  BITS_128: 0,
  /** `MLX5DV_CRYPTO_KEY_SIZE_256`: AES-256. */
  BITS_256: 1,
} as const;
/** `enum mlx5dv_crypto_key_purpose`. */
export const CryptoKeyPurpose = {
  /** `MLX5DV_CRYPTO_KEY_PURPOSE_AES_XTS`: encryption of blocks, as disks have it. */
  AES_XTS: 0,
} as const;
/** `enum mlx5dv_dek_state`. */
export const DekState = {
  /** `MLX5DV_DEK_STATE_READY`: it can be used. */
  READY: 0,
  /** `MLX5DV_DEK_STATE_ERROR`: it cannot, and must be made anew. */
  ERROR: 1,
} as const;

/** `struct mlx5dv_crypto_login_attr`, and `struct mlx5dv_crypto_login_attr_ex`. */
export interface CryptoLoginAttr {
  /** Which of the credentials that the device's administrator stored, 32 bits. */
  credentialId: number;
  /** Which of the stored key encryption keys unwraps keys, 32 bits. */
  importKekId: number;
  /** 48 bytes; {@link cryptoLoginCreate} takes wrapped ones of 40 too. */
  credential: Uint8Array;
}

function loginFields(attr: CryptoLoginAttr, sizes: readonly number[]): NativeLogin {
  const given = validate.object(attr, 'attr', ['credentialId', 'importKekId', 'credential']);
  return {
    credentialId: validate.integer(given['credentialId'], 'attr.credentialId', 0, U32),
    importKekId: validate.integer(given['importKekId'], 'attr.importKekId', 0, U32),
    credential: bytesOf(given['credential'], 'attr.credential', sizes),
  };
}

function bytesOf(value: unknown, path: string, sizes: readonly number[]): Uint8Array {
  if (!types.isUint8Array(value)) throw validate.typeError(path, 'a Uint8Array', value);
  if (!sizes.includes(value.byteLength)) {
    throw validate.rangeError(`${path}.byteLength`, sizes.join(' or '), value.byteLength);
  }
  return value;
}

/** `mlx5dv_crypto_login`: the context may use wrapped keys from now on. @throws VerbsError EOPNOTSUPP, EINVAL, EEXIST */
export function cryptoLogin(ctx: Context, attr: CryptoLoginAttr): void {
  const syscall = 'mlx5dv_crypto_login';
  const { library, handle } = forContext(ctx, syscall);
  done(native.cryptoLogin(library, handle, loginFields(attr, [CREDENTIAL_BYTES])), { library, syscall });
}

/** `mlx5dv_crypto_login_query_state`: {@link CryptoLoginState}. @throws VerbsError EOPNOTSUPP */
export function cryptoLoginQueryState(ctx: Context): number {
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
  query(): number {
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
  keySize: number;
  /** Whether the key has a tag of 8 bytes behind it. */
  hasKeytag?: boolean;
  /** {@link CryptoKeyPurpose}, default AES_XTS. */
  keyPurpose?: number;
  /** 8 bytes that the key is known by, default zeros. */
  opaque?: Uint8Array;
  /** At most 128 bytes, wrapped or plain. */
  key: Uint8Array;
  /** Whose rights a wrapped key is imported with; default those of {@link cryptoLogin}. */
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

  /** `mlx5dv_dek_query`: {@link DekState}, and the bytes that the key is known by. @throws VerbsError */
  query(): {
    /** See {@link DekState}. */
    state: number;
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

/** `mlx5dv_dek_create`. @throws VerbsError EOPNOTSUPP, EINVAL */
export function dekCreate(pd: ProtectionDomain, attr: DekInitAttr): Dek {
  const syscall = 'mlx5dv_dek_create';
  const domain = handleOf(pd, 'ProtectionDomain', 'pd', syscall);
  const { library, handle } = forContext(pd.context, syscall);
  const names = ['keySize', 'hasKeytag', 'keyPurpose', 'opaque', 'key', 'cryptoLogin'];
  const given = validate.object(attr, 'attr', names);
  const { key, cryptoLogin: login } = given;
  if (!types.isUint8Array(key)) throw validate.typeError('attr.key', 'a Uint8Array', key);
  if (key.byteLength > 128) throw validate.rangeError('attr.key.byteLength', 'at most 128', key.byteLength);
  const fields = {
    keySize: validate.integer(given['keySize'], 'attr.keySize', 0, U32),
    hasKeytag: validate.boolean(given['hasKeytag'], 'attr.hasKeytag', false),
    keyPurpose: validate.optional(given['keyPurpose'], 'attr.keyPurpose', U32, CryptoKeyPurpose.AES_XTS),
    opaque: bytesOf(given['opaque'] ?? new Uint8Array(OPAQUE_BYTES), 'attr.opaque', [OPAQUE_BYTES]),
    key,
    ...(login === undefined ? {} : { cryptoLogin: handleOf(login, 'CryptoLogin', 'attr.cryptoLogin', syscall) }),
  };
  return new Dek(pd, made(native.dekCreate(library, handle, domain, fields), { library, syscall }), attr.cryptoLogin);
}
