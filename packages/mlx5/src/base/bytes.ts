import { types } from 'node:util';
import { detachedError, isDetached, validate } from '@verbs/core/provider';

/** The largest value of the ioctl's length field: libmlx5 would cut a larger one, or abort. The kernel's own limits are far below. */
export const MOST_BYTES = 0xffff;

/** A copy of bytes, which the program may change later. The `slice` of a Buffer is none: it is a view. */
export function copyOf(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}

/** Whether a value is an array of bytes, with its memory. @throws TypeError for one whose buffer was transferred */
export function isBytes(value: unknown, path: string): value is Uint8Array {
  if (!types.isUint8Array(value)) return false;
  if (isDetached(value)) throw detachedError(path);
  return true;
}

/** Bytes that the length field has room for. @throws RangeError for more */
export function limited<T extends ArrayBufferView>(bytes: T, path: string): T {
  if (bytes.byteLength <= MOST_BYTES) return bytes;
  throw validate.rangeError(`${path}.byteLength`, `at most ${MOST_BYTES}`, bytes.byteLength);
}
