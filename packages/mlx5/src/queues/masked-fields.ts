import { fields, type FieldsOf, type FieldTable } from '@verbs/core/provider';

/**
 * The check of an attribute structure with a `comp_mask`: a table of its optional fields, each with its bit. It gives the
 * present fields, and their bits in `compMask`.
 */
export function maskedFields<const T extends FieldTable>(table: T, bits: Readonly<Record<keyof T, number>>) {
  const check = fields(table);
  return (value: unknown, path: string): FieldsOf<T> & { compMask: bigint } => {
    const given = check(value, path);
    const present = Object.keys(given) as (keyof T)[];
    return { ...given, compMask: present.reduce((mask, name) => mask | BigInt(bits[name]), 0n) };
  };
}
