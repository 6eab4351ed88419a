import { integer, u64 } from '../base/validate.js';

/**
 * Where a request is in the arguments, for errors: a text, or its place in the array `wr`. It becomes text only if
 * something is wrong: strings for each field of each request would cost more than all the rest of a post call.
 */
export type RequestPath = string | number;

export function pathText(path: RequestPath): string {
  return typeof path === 'number' ? `wr[${path}]` : path;
}

const U32 = 0xffffffff;

/** `wr[name]`, an integer from 0 to `max`. */
export function u32Field(wr: Record<string, unknown>, name: string, path: RequestPath, max = U32): number {
  const value = wr[name];
  if (typeof value === 'number' && value >>> 0 === value && value <= max) return value;
  return integer(value, `${pathText(path)}.${name}`, 0, max);
}

/** `wr[name]`, an unsigned integer of 64 bits. */
export function u64Field(wr: Record<string, unknown>, name: string, path: RequestPath): bigint | number {
  const value = wr[name];
  if (typeof value === 'number' && value >= 0 && Number.isSafeInteger(value)) return value;
  return u64(value, `${pathText(path)}.${name}`);
}
