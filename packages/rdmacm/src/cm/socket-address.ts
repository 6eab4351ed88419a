import { readFileSync } from 'node:fs';
import { isIPv4, isIPv6 } from 'node:net';
import { fields, maybe, or, u16, u20, u32, validate } from '@verbs/core/provider';
import type { NativeAddress } from '../base/native.js';

/** An IP address and a port of the connection manager; ports are not those of TCP. */
export interface SocketAddress {
  /** An IPv4 or IPv6 address, '192.0.2.1' or 'fe80::1%eth0'; default: any address, `0.0.0.0`. */
  address?: string;
  /** 0 to 65535; default 0: any free port. */
  port?: number;
  /** IPv6: 20 bits, default 0. */
  flowInfo?: number;
  /** IPv6: the number of the network interface of a link-local address; default: that behind the `%`, or 0. */
  scopeId?: number;
}

/** An address that the connection manager knows. */
export interface FullSocketAddress {
  /** '192.0.2.1', '2001:db8::1'. */
  address: string;
  /** 0 to 65535. */
  port: number;
  /** 4 or 6. */
  family: 4 | 6;
  /** IPv6 only. */
  flowInfo?: number;
  /** IPv6 only. */
  scopeId?: number;
}

const socketAddress = fields({
  address: or((value, path) => {
    if (typeof value !== 'string') throw validate.typeError(path, 'an IP address', value);
    return value;
  }, '0.0.0.0'),
  port: or(u16(), 0),
  flowInfo: or(u20(), 0),
  scopeId: maybe(u32()),
});

/** The address in the form of the addon. */
export function nativeAddress(value: unknown, path: string): NativeAddress {
  const { address, port, flowInfo, scopeId } = socketAddress(value, path);
  if (isIPv4(address)) return { family: 4, address, port };
  if (!isIPv6(address)) throw validate.valueError(`${path}.address`, `is no IP address: ${JSON.stringify(address)}`);
  const [bare = '', zone] = address.split('%');
  return { family: 6, address: bare, port, flowInfo, scopeId: scopeId ?? scopeOf(zone, `${path}.address`) };
}

const LINK_LOCAL = '20';

/**
 * The lines of the kernel's table of IPv6 addresses: address, interface number, prefix, scope, flags, interface. Those of
 * os.networkInterfaces() lack an interface that has been up for a few milliseconds only.
 */
function interfaceAddresses(): string[][] {
  let table;
  try {
    table = readFileSync('/proc/net/if_inet6', 'utf8');
  } catch {
    return []; // a kernel without IPv6
  }
  return table.split('\n').map((line) => line.split(/ +/));
}

/** The number of a network interface, by its name or itself as text. */
export function scopeOf(zone: string | undefined, path: string): number {
  if (zone === undefined) return 0;
  if (/^\d{1,9}$/.test(zone)) return Number(zone);
  for (const [, index = '', , scope, , name] of interfaceAddresses()) {
    if (name === zone && scope === LINK_LOCAL) return Number.parseInt(index, 16);
  }
  throw validate.valueError(path, `names no network interface with a link-local address: ${JSON.stringify(zone)}`);
}

/** The unspecified address of no family is none. */
export function publicAddress(address: NativeAddress | undefined): FullSocketAddress | undefined {
  return address === undefined ? undefined : { ...address };
}
