import { types } from 'node:util';
import { native } from './native.js';
import { typeError, valueError } from './validate.js';

/** The 16 bytes of a GID. */
export function gidBytes(value: unknown, path: string): Uint8Array {
  if (typeof value === 'string') {
    const bytes = native.parseGid(value);
    // The C function ends at a NUL, so a longer text might pass.
    if (bytes === undefined || value.includes('\0')) {
      throw valueError(
        path,
        `is no GID: ${JSON.stringify(value.slice(0, 60))} is not an IPv6 address such as "::ffff:10.0.0.1"`,
      );
    }
    return bytes;
  }
  if (!types.isUint8Array(value)) throw typeError(path, 'a GID as IPv6 text or as 16 bytes', value);
  if (value.byteLength !== 16) throw valueError(path, `must have 16 bytes, not ${value.byteLength}`);
  // A copy, and a plain Uint8Array where a Buffer came.
  return Uint8Array.prototype.slice.call(value);
}

/** The shortest IPv6 text of 16 bytes. */
export function gidText(bytes: Uint8Array): string {
  return native.formatGid(bytes);
}

/**
 * A GUID as the tools print it: `0200:00ff:fe00:0001`.
 *
 * @throws TypeError if it is not a bigint
 * @example formatGuid(ctx.device.guid);
 */
export function formatGuid(guid: bigint): string {
  if (typeof guid !== 'bigint') throw typeError('guid', 'a bigint', guid);
  return guid
    .toString(16)
    .padStart(16, '0')
    .replace(/(....)(?!$)/g, '$1:');
}
