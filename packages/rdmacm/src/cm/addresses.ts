import { isIPv6 } from 'node:net';
import type { Context, LibraryKind } from '@verbs/core';
import { getDevices } from './contexts.js';

/** The IP addresses of the devices, those of IPv4 first and link-local ones last. */
export function addressesOf(library: LibraryKind): string[] {
  const found = getDevices({ library }).flatMap(ofContext);
  const rank = (address: string) => (/^fe80:/i.test(address) ? 2 : isIPv6(address) ? 1 : 0);
  return [...new Set(found)].sort((a, b) => rank(a) - rank(b));
}

function ofContext(context: Context): string[] {
  const gids = context.gidTable().map(({ gid }) => gid);
  // The first 96 bits of an IPv4 address as a GID.
  return gids.map((gid) => /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(gid)?.[1] ?? gid);
}
