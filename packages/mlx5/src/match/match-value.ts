import { types } from 'node:util';
import { validate } from '@verbs/core/provider';
import { encodeMatch } from './index.js';
import type { EncodedMatch, MatchParams } from './index.js';

/** Match parameters by name, as {@link encodeMatch} takes them, or the bytes of `struct mlx5_ifc_fte_match_param_bits`. */
export type MatchValue = MatchParams | Uint8Array;

/** What the ioctl's length field holds; the kernel's own limit is far below. */
const MOST = 0xffff;
/** A mask of nothing. */
const EMPTY: EncodedMatch = encodeMatch({});

/** A mask with its criteria. Criteria for bytes are the caller's, and 0 without. */
export function maskOf(
  value: unknown,
  path: string,
  criteria: number | undefined,
): { mask: Uint8Array; matchCriteriaEnable: number } {
  if (value === undefined) return { mask: EMPTY.mask, matchCriteriaEnable: criteria ?? 0 };
  if (types.isUint8Array(value)) return { mask: bytes(value, path), matchCriteriaEnable: criteria ?? 0 };
  const { mask, matchCriteriaEnable } = named(value, path);
  return { mask, matchCriteriaEnable: criteria ?? matchCriteriaEnable };
}

/** A value for a mask of that many bytes: of parameters by name as many, of bytes all. */
export function valueOf(value: unknown, path: string, size: number): Uint8Array {
  if (types.isUint8Array(value)) return bytes(value, path);
  const encoded = value === undefined ? EMPTY.value : named(value, path).value;
  const sized = new Uint8Array(size);
  sized.set(encoded.subarray(0, size));
  if (encoded.subarray(size).some((byte) => byte !== 0)) {
    throw validate.valueError(path, `has fields beyond the ${size} bytes of the matcher's mask`);
  }
  return sized;
}

function named(value: unknown, path: string): EncodedMatch {
  if (typeof value !== 'object' || value === null) throw validate.typeError(path, 'match parameters or bytes', value);
  return encodeMatch(value);
}

function bytes(value: Uint8Array, path: string): Uint8Array {
  if (value.byteLength > MOST) throw validate.rangeError(`${path}.byteLength`, `at most ${MOST}`, value.byteLength);
  return value;
}
