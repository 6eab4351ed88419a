import { inspect, type InspectOptionsStylized } from 'node:util';
import { enumName, flagNames } from '../enums/index.js';
import { kKind, kSerial } from './symbols.js';

// Values in the notation of the field, for `inspect`: objects that are printed as their text.

function as(text: string, style: 'special' | 'number'): object {
  return { [inspect.custom]: (_depth: number, options: InspectOptionsStylized) => options.stylize(text, style) };
}

/** Keys, addresses and masks: `0x2a01`. */
export function hex(value: number | bigint, digits = 1): object {
  return as(`0x${value.toString(16).padStart(digits, '0')}`, 'number');
}

/** 24 bits, the number of a queue pair or a packet: `0x000011`. */
export function qpn(value: number): object {
  return hex(value, 6);
}

/** A value of an enumeration: `RC (2)`. */
export function named(values: Readonly<Record<string, number>>, value: number): object {
  const name = enumName(values, value);
  return as(name === String(value) ? name : `${name} (${value})`, 'special');
}

/** A value in its own words. */
export function special(text: string): object {
  return as(text, 'special');
}

/** Bits: `LOCAL_WRITE|REMOTE_READ`. */
export function flags(values: Readonly<Record<string, number>>, value: number): object {
  return as(flagNames(values, value), 'special');
}

/** A path MTU by its code, in bytes: `1024 (3)`. */
export function mtu(code: number): object {
  return as(code >= 1 && code <= 5 ? `${128 << code} (${code})` : String(code), 'number');
}

/** Another object, in short: `[ProtectionDomain #2]`. */
export function brief(object: { [kKind]: string; [kSerial]: number; closed: boolean }): object {
  return as(`[${object[kKind]} #${object[kSerial]}${object.closed ? ' (closed)' : ''}]`, 'special');
}

/** The fields that are there, in their order. */
export function present(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** The notations of the fields of plain data, for `inspect`. */
export type Forms<T> = { readonly [Name in keyof T]?: (value: T[Name]) => unknown };

/** Makes `inspect` print plain data in these notations. The data compares, copies and serializes as before. */
export function readable<T extends object>(data: T, forms: Forms<T>): T {
  return Object.defineProperty(data, inspect.custom, {
    configurable: true,
    writable: true,
    value: (depth: number, options: InspectOptionsStylized) =>
      depth < 0 ? options.stylize('[Object]', 'special') : inspect(inForms(data, forms), { ...options, depth }),
  });
}

function inForms<T extends object>(data: T, forms: Forms<T>): Record<string, unknown> {
  const formatted = ([name, value]: [string, unknown]) => {
    const form = forms[name as keyof T] as ((value: unknown) => unknown) | undefined;
    try {
      return [name, form === undefined ? value : form(value)];
    } catch {
      // The program replaced the field.
      return [name, value];
    }
  };
  return Object.fromEntries(Object.entries(data).map(formatted)) as Record<string, unknown>;
}
