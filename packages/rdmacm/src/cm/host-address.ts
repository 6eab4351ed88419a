import { isIPv6 } from 'node:net';
import { scopeOf } from './socket-address.js';

/**
 * An IP address among the options of a connection, as programs may write it: one of IPv4 in the form of IPv6, which GIDs
 * have, is that of IPv4.
 *
 * @throws TypeError ERR_INVALID_ARG_VALUE if it names a network interface that there is not
 */
export function hostAddress(address: string, path: string): string {
  const [bare = '', zone] = address.split('%');
  if (!isIPv6(bare)) return address;
  if (zone !== undefined) scopeOf(zone, path);
  return mappedOf(bare) ?? address;
}

/** '127.0.0.1' of '::ffff:127.0.0.1', of '::ffff:7f00:1' and of their other spellings. */
function mappedOf(address: string): string | undefined {
  const { hostname } = new URL(`http://[${address}]/`);
  const found = /^\[::ffff:([0-9a-f]+):([0-9a-f]+)\]$/.exec(hostname);
  if (found === null) return undefined;
  const bytes = found.slice(1).flatMap((half) => [parseInt(half, 16) >> 8, parseInt(half, 16) & 255]);
  return bytes.join('.');
}

/** What keeps an address from being resolved, as far as its form shows it: a remedy. `own`: those of the devices. */
export function adviceFor(address: string, own: readonly string[]): string | undefined {
  if (/^fe[89ab][0-9a-f]:/i.test(address) && !address.includes('%')) {
    return 'a link-local address needs the network interface that leads to it, as in fe80::1%eth0';
  }
  const family = isIPv6(address) ? 'IPv6' : 'IPv4';
  if (own.some((each) => isIPv6(each) === isIPv6(address))) return undefined;
  return `no RDMA device has an address of ${family}; addr= in VERBS_SOFT gives one to the software NIC`;
}
