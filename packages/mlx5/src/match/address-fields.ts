import { validate } from '@verbs/core/provider';
import { ipBytes, ipText, macBytes, macText } from '../base/addresses.js';

/** The bytes of a value and of its mask. */
export interface Masked {
  value: Uint8Array;
  mask: Uint8Array;
}

export function macField(value: unknown, mask: unknown, path: string): Masked {
  return {
    value: value === undefined ? new Uint8Array(6) : macBytes(value, path),
    mask: mask === undefined ? new Uint8Array(6).fill(0xff) : macBytes(mask, `${path}.mask`),
  };
}

/** 16 bytes; an IPv4 address takes the last 4. */
export function ipField(value: unknown, mask: unknown, path: string): Masked {
  const [address, prefix] = split(value, mask, path);
  const bits = mask === undefined ? undefined : ipBytes(mask, `${path}.mask`);
  const bytes = address === undefined ? new Uint8Array(bits?.length ?? 4) : ipBytes(address, path);
  if (bits !== undefined && bits.length !== bytes.length) {
    throw validate.valueError(`${path}.mask`, 'must be of the same IP version as the value');
  }
  const masked = bits ?? prefixMask(bytes.length, prefix, path);
  return { value: wide(bytes), mask: wide(masked) };
}

function split(value: unknown, mask: unknown, path: string): [address: unknown, prefix: string | undefined] {
  if (typeof value !== 'string' || !value.includes('/')) return [value, undefined];
  if (mask !== undefined) throw validate.valueError(path, "takes either a prefix ('/24') or a mask");
  const at = value.indexOf('/');
  return [value.slice(0, at), value.slice(at + 1)];
}

function prefixMask(size: number, prefix: string | undefined, path: string): Uint8Array {
  const bits = prefix === undefined ? size * 8 : /^\d{1,3}$/.test(prefix) ? Number(prefix) : NaN;
  if (!(bits <= size * 8)) throw validate.valueError(path, `has a prefix that is not from 0 to ${size * 8}`);
  return Uint8Array.from({ length: size }, (_, i) => 0xff00 >> Math.min(Math.max(bits - i * 8, 0), 8));
}

function wide(bytes: Uint8Array): Uint8Array {
  const all = new Uint8Array(16);
  all.set(bytes, 16 - bytes.length);
  return all;
}

const isFull = (mask: Uint8Array) => mask.every((byte) => byte === 0xff);

export function macMatch({ value, mask }: Masked): string | { value: string; mask: string } {
  return isFull(mask) ? macText(value) : { value: macText(value), mask: macText(mask) };
}

/** An IPv4 address if the mask has only the last 4 bytes. */
export function ipMatch({ value, mask }: Masked): string | { value: string; mask: string } {
  const narrow = mask.subarray(0, 12).every((byte) => byte === 0);
  const [address, bits] = narrow ? [value.subarray(12), mask.subarray(12)] : [value, mask];
  return isFull(bits) ? ipText(address) : { value: ipText(address), mask: ipText(bits) };
}
