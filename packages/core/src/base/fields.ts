import { types } from 'node:util';
import { boolean, integer, object, rangeError, typeError, u64 as checkU64, valueError } from './validate.js';

/**
 * Checks a value and returns it in the form that the native call takes. `path` names it in errors: 'attr.grh.dgid'. The
 * value is `undefined` where a field is missing.
 *
 * @throws TypeError, RangeError
 */
export type Check<T> = (value: unknown, path: string) => T;

/** The checks of an object's fields, by name. */
export type FieldTable = Readonly<Record<string, Check<unknown>>>;

type Value<C> = C extends Check<infer T> ? T : never;
type Missing<T extends FieldTable> = {
  [Name in keyof T]: undefined extends Value<T[Name]> ? Name : never;
}[keyof T];

/** The result of a table of fields. A field whose check may return `undefined` is optional. */
export type FieldsOf<T extends FieldTable> = {
  [Name in Exclude<keyof T, Missing<T>>]: Value<T[Name]>;
} & {
  [Name in Missing<T>]?: Exclude<Value<T[Name]>, undefined>;
};

/** The check of an object; `names` are the fields that it knows. */
export interface ObjectCheck<T extends FieldTable> extends Check<FieldsOf<T>> {
  /** The names of the fields. */
  readonly names: readonly string[];
}

/**
 * The check of an object by a table of its fields. A name that is not in the table is an error, and each field is read
 * once. Tables nest: the result is a check itself.
 *
 * ```ts
 * const route = fields({ dgid: gidBytes, hopLimit: or(u8(), 64) });
 * const address = fields({ portNum: u8(1), sl: or(u4(), 0), grh: maybe(route) });
 * const { portNum, sl, grh } = address(attr, 'attr');
 * ```
 *
 * @throws TypeError, RangeError that names the field by its path
 */
export function fields<const T extends FieldTable>(table: T): ObjectCheck<T> {
  const entries = Object.entries(table);
  const names = Object.keys(table);
  const check = (value: unknown, path: string) => {
    const given = object(value, path, names);
    const result: Record<string, unknown> = {};
    for (const [name, checkField] of entries) {
      const field = checkField(given[name], `${path}.${name}`);
      if (field !== undefined) result[name] = field;
    }
    return result as FieldsOf<T>;
  };
  return Object.assign(check, { names });
}

/** A field that may be missing. */
export function maybe<T>(check: Check<T>): Check<T | undefined> {
  return (value, path) => (value === undefined ? undefined : check(value, path));
}

/** A field with a default. */
export function or<T, const D>(check: Check<T>, otherwise: D): Check<T | D> {
  return (value, path) => (value === undefined ? otherwise : check(value, path));
}

/** An integer from `min` to `max`. */
export function range(min: number, max: number): Check<number> {
  return (value, path) => integer(value, path, min, max);
}

/** A value of an enumeration; errors name its members, `Mtu.MTU_4096`. */
export function member(enumeration: Readonly<Record<string, number>>, name: string): Check<number> {
  const values = new Set(Object.values(enumeration));
  return (value, path) => {
    if (typeof value === 'number' && values.has(value)) return value;
    const members = Object.keys(enumeration).map((each) => `${name}.${each}`);
    const wanted = `one of ${members.join(', ')}`;
    throw typeof value === 'number' ? rangeError(path, wanted, value) : typeError(path, wanted, value);
  };
}

const unsigned = (bits: number) => {
  const max = 2 ** bits - 1;
  return (min = 0): Check<number> => range(min, max);
};

// Unsigned integers of that many bits, from `min` on: `u8(1)` is a port's number.

/** Unsigned, 1 bit. */
export const u1 = unsigned(1);
/** Unsigned, 3 bits. */
export const u3 = unsigned(3);
/** Unsigned, 4 bits. */
export const u4 = unsigned(4);
/** Unsigned, 5 bits. */
export const u5 = unsigned(5);
/** Unsigned, 7 bits. */
export const u7 = unsigned(7);
/** Unsigned, 8 bits. */
export const u8 = unsigned(8);
/** Unsigned, 12 bits. */
export const u12 = unsigned(12);
/** Unsigned, 16 bits. */
export const u16 = unsigned(16);
/** Unsigned, 20 bits. */
export const u20 = unsigned(20);
/** Unsigned, 24 bits. */
export const u24 = unsigned(24);
/** The non-negative values of a C `int`: flags and sizes. */
export const u31 = unsigned(31);
/** Unsigned, 32 bits. */
export const u32 = unsigned(32);
/** The exact integers of a JavaScript number: byte counts and offsets. */
export const u53 = unsigned(53);

/** An unsigned integer of 64 bits, as a bigint or as an exact number. */
export const u64 = (): Check<bigint> => (value, path) => BigInt(checkU64(value, path));

/** A boolean with its default. */
export const flag =
  (otherwise = false): Check<boolean> =>
  (value, path) =>
    boolean(value, path, otherwise);

/** An array of at most `max` elements; each is checked by its path, `attr.list[0]`. */
export function list<T>(check: Check<T>, max = Infinity): Check<T[]> {
  return (value, path) => {
    if (!Array.isArray(value)) throw typeError(path, 'an array', value);
    if (value.length > max) throw rangeError(`${path}.length`, `at most ${max}`, value.length);
    // Not map(), which passes over the holes of an array.
    return Array.from(value, (each: unknown, i) => check(each, `${path}[${i}]`));
  };
}

/** Whether the memory of a view is gone: of a detached buffer there is no other view. */
export function isDetached({ byteLength, buffer }: ArrayBufferView): boolean {
  if (byteLength !== 0) return false;
  try {
    new Uint8Array(buffer);
    return false;
  } catch {
    return true;
  }
}

/** A Uint8Array with its memory, of any realm. */
export const uint8Array: Check<Uint8Array> = (value, path) => {
  if (!types.isUint8Array(value)) throw typeError(path, 'a Uint8Array', value);
  if (isDetached(value)) throw detachedError(path);
  return value;
};

/** The error of bytes whose buffer was transferred. */
export const detachedError = (path: string): TypeError => valueError(path, 'is detached: its buffer was transferred');

/** Any value: its user checks it. */
export const unchecked: Check<unknown> = (value) => value;
