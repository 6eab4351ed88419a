import { isIPv4 } from 'node:net';
import { types } from 'node:util';
import { coreNative, validate } from '@verbs/core/provider';
import { copyOf } from './bytes.js';

/** '02:00:00:00:00:01', with ':' or '-', or 6 bytes. */
export type MacAddress = string | Uint8Array;

/** '10.0.0.1', or 4 bytes in network order. */
export type Ipv4Address = string | Uint8Array;

/** IPv6 text in any spelling, or 16 bytes. */
export type Ipv6Address = string | Uint8Array;

const MAC_TEXT = /^[\da-f]{2}([:-])[\da-f]{2}(?:\1[\da-f]{2}){4}$/i;

export function macBytes(value: unknown, path: string): Uint8Array {
  if (typeof value !== 'string') return given(value, path, 6, "a MAC address ('02:00:00:00:00:01')");
  if (!MAC_TEXT.test(value)) {
    throw validate.valueError(path, `is no MAC address such as '02:00:00:00:00:01': ${shown(value)}`);
  }
  return Uint8Array.from(value.split(/[:-]/), (part) => parseInt(part, 16));
}

export function macText(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(':');
}

export function ipv4Bytes(value: unknown, path: string): Uint8Array {
  if (typeof value !== 'string') return given(value, path, 4, "an IPv4 address ('10.0.0.1')");
  if (!isIPv4(value)) throw validate.valueError(path, `is no IPv4 address such as '10.0.0.1': ${shown(value)}`);
  return Uint8Array.from(value.split('.'), Number);
}

export function ipv4Text(bytes: Uint8Array): string {
  return bytes.join('.');
}

export function ipv6Bytes(value: unknown, path: string): Uint8Array {
  if (typeof value !== 'string') return given(value, path, 16, "an IPv6 address ('2001:db8::1')");
  const bytes = parseIpv6(value);
  if (bytes === undefined) {
    throw validate.valueError(path, `is no IPv6 address such as '2001:db8::1': ${shown(value)}`);
  }
  return bytes;
}

/** The shortest text. */
export function ipv6Text(bytes: Uint8Array): string {
  return coreNative.formatGid(bytes);
}

/** 4 or 16 bytes of an address of either version. */
export function ipBytes(value: unknown, path: string): Uint8Array {
  const wanted = "an IP address ('10.0.0.1', '2001:db8::1', or 4 or 16 bytes)";
  if (typeof value === 'string') {
    if (isIPv4(value)) return ipv4Bytes(value, path);
    const bytes = parseIpv6(value);
    if (bytes === undefined) throw validate.valueError(path, `is no IP address: ${shown(value)}`);
    return bytes;
  }
  if (!types.isUint8Array(value)) throw validate.typeError(path, wanted, value);
  return given(value, path, value.byteLength === 4 ? 4 : 16, wanted);
}

/** The text of 4 or 16 bytes. */
export function ipText(bytes: Uint8Array): string {
  return bytes.length === 4 ? ipv4Text(bytes) : ipv6Text(bytes);
}

function parseIpv6(text: string): Uint8Array | undefined {
  // The C function ends at a NUL, so a longer text might pass.
  return text.includes('\0') ? undefined : coreNative.parseGid(text);
}

/** A copy of the caller's bytes, which may change later. */
function given(value: unknown, path: string, size: number, wanted: string): Uint8Array {
  if (!types.isUint8Array(value)) throw validate.typeError(path, `${wanted} or ${size} bytes`, value);
  if (value.byteLength !== size) {
    throw validate.valueError(path, `must have ${size} bytes, not ${value.byteLength}`);
  }
  return copyOf(value);
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 60));
}
