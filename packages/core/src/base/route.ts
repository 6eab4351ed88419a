import { native } from './native.js';

/**
 * Bytes of the longest IP packet on the way from a GID of RoCE v2 to an IP address, as the machine's network knows it;
 * undefined where no way leads there.
 */
export function routeMtu(gid: string, peer: string): number | undefined {
  // Of a link-local address only the peer's, by which TCP reaches it, names the interface.
  const zone = gid.startsWith('fe80:') ? (/%.*$/.exec(peer)?.[0] ?? '') : '';
  const bytes = native.routeMtu(plain(gid) + zone, plain(peer));
  return bytes < 0 ? undefined : bytes;
}

/** An IPv4 address out of its form of IPv6. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=[\d.]+$)/i, '');
}
