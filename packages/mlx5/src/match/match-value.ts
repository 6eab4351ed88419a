import { validate } from '@verbs/core/provider';
import { isBytes, limited } from '../base/bytes.js';
import { encodeMatch } from './index.js';
import type { EncodedMatch, MatchParams } from './index.js';

/** Match parameters by name, as {@link encodeMatch} takes them, or the bytes of `struct mlx5_ifc_fte_match_param_bits`. */
export type MatchValue = MatchParams | Uint8Array;

/** The empty mask. */
const EMPTY: EncodedMatch = encodeMatch({});

/** A mask with its criteria. For a mask in bytes, the caller gives the criteria; default 0. */
export function maskOf(
  value: unknown,
  path: string,
  criteria: number | undefined,
): { mask: Uint8Array; matchCriteriaEnable: number } {
  if (value === undefined) return { mask: EMPTY.mask, matchCriteriaEnable: criteria ?? 0 };
  if (isBytes(value, path)) return { mask: limited(value, path), matchCriteriaEnable: criteria ?? 0 };
  const { mask, matchCriteriaEnable } = named(value, path);
  return { mask, matchCriteriaEnable: criteria ?? matchCriteriaEnable };
}

/** A value for a mask of `size` bytes: parameters by name give `size` bytes, bytes are taken as they are. */
export function valueOf(value: unknown, path: string, size: number): Uint8Array {
  if (isBytes(value, path)) return limited(value, path);
  const encoded = value === undefined ? EMPTY.value : named(value, path).value;
  const sized = new Uint8Array(size);
  sized.set(encoded.subarray(0, size));
  if (encoded.subarray(size).some((byte) => byte !== 0)) {
    throw validate.valueError(path, `has fields beyond the ${size} bytes of the matcher's mask`);
  }
  return sized;
}

/** Which byte of a value has a bit outside of the mask; undefined if none has. */
export function bitOutside(value: Uint8Array, mask: Uint8Array): string | undefined {
  const at = value.findIndex((byte, i) => (byte & ~(mask[i] ?? 0)) !== 0);
  return at < 0
    ? undefined
    : `the value has a bit outside of the matcher's mask, in its byte ${at}: match it there, or leave it 0`;
}

function named(value: unknown, path: string): EncodedMatch {
  if (typeof value !== 'object' || value === null) throw validate.typeError(path, 'match parameters or bytes', value);
  return encodeMatch(value);
}
