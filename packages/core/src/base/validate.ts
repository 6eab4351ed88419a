import { inspect } from 'node:util';
import { memberNamed } from './member-names.js';

/**
 * A value of the wrong type: TypeError with code ERR_INVALID_ARG_TYPE. `path` is the argument's, as 'attr.grh.dgid'.
 */
export function typeError(path: string, wanted: string, value: unknown): TypeError {
  return coded(new TypeError(`${path} must be ${wanted}; received ${outline(value)}`), 'ERR_INVALID_ARG_TYPE');
}

/** A value of the right type that cannot be: TypeError with code ERR_INVALID_ARG_VALUE. */
export function valueError(path: string, problem: string): TypeError {
  return coded(new TypeError(`${path} ${problem}`), 'ERR_INVALID_ARG_VALUE');
}

/** A number outside of its range: RangeError with code ERR_OUT_OF_RANGE. */
export function rangeError(path: string, wanted: string, value: unknown): RangeError {
  return coded(new RangeError(`${path} must be ${wanted}; received ${outline(value)}`), 'ERR_OUT_OF_RANGE');
}

/** An integer from `min` to `max`. */
export function integer(value: unknown, path: string, min: number, max: number): number {
  if (typeof value !== 'number')
    throw typeError(path, memberNamed(path, value) ?? `a number from ${min} to ${max}`, value);
  if (!Number.isInteger(value) || value < min || value > max)
    throw rangeError(path, `an integer from ${min} to ${max}`, value);
  return value;
}

/** An optional integer from 0 to `max`, with its default. */
export function optional(value: unknown, path: string, max: number, otherwise: number): number {
  return value === undefined ? otherwise : integer(value, path, 0, max);
}

const MAX_U64 = (1n << 64n) - 1n;

/** A 64-bit unsigned integer: a bigint, or a number that is exact. */
export function u64(value: unknown, path: string): bigint | number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  return otherU64(value, path);
}

function otherU64(value: unknown, path: string): bigint {
  if (typeof value === 'number')
    throw rangeError(path, 'a bigint from 0 to 2^64 - 1 or an integer from 0 to 2^53 - 1', value);
  if (typeof value !== 'bigint') throw typeError(path, 'a bigint or a number', value);
  if (value < 0n || value > MAX_U64) throw rangeError(path, 'a bigint from 0 to 2^64 - 1', value);
  return value;
}

/** A boolean, or `otherwise` if it is left out. */
export function boolean(value: unknown, path: string, otherwise: boolean): boolean {
  if (value === undefined) return otherwise;
  if (typeof value !== 'boolean') throw typeError(path, 'a boolean', value);
  return value;
}

/**
 * An object that is no array; `known` are the names it may have, so that a misspelt one is found. Gives a copy of its
 * fields: each is read once, so that none can be another when it is used than when it was checked.
 */
export function object(value: unknown, path: string, known: readonly string[]): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw typeError(path, 'an object', value);
  for (const name of Object.keys(value)) {
    if (!known.includes(name)) throw valueError(`${path}.${name}`, `is not known here; known are ${known.join(', ')}`);
  }
  const copy: Record<string, unknown> = {};
  for (const name of known) {
    const field = (value as Record<string, unknown>)[name];
    if (field !== undefined) copy[name] = field;
  }
  return copy;
}

/** The elements of an array of at most `max`, each read once. */
export function elements(value: unknown, path: string, wanted: string, max: number): unknown[] {
  if (!Array.isArray(value)) throw typeError(path, wanted, value);
  const { length } = value;
  // Without the bound a sparse array of four billion holes would be copied.
  if (length > max) throw valueError(path, `has ${length} elements; at most ${max} are possible`);
  return Array.from({ length }, (_, i): unknown => value[i]);
}

function outline(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  // Only the outline of an object: a property may be a getter.
  const text = inspect(value, { depth: -1, maxStringLength: 60, customInspect: false, showProxy: true });
  // The bundler renames a class that names itself, `_Context`.
  return text.replace(/^\[_(\w+)\]$/, '[$1]');
}

function coded<E extends Error>(error: E, code: string): E {
  return Object.assign(error, { code });
}
