import { routeMtu } from '../base/route.js';
import { Mtu } from '../enums/index.js';

/** Of an IP packet with all headers that RoCE v2 can have, as the kernel's soft-RoCE computes it. */
const HEADERS = 80;

/**
 * The largest {@link Mtu}, at most `limit`, whose packets the way from a GID of RoCE v2 to an IP address carries: each end of a
 * connection may have another interface. The limit where the machine's network knows no such way.
 */
export function pathMtu(gid: string, peer: string, limit: Mtu): Mtu {
  const bytes = routeMtu(gid, peer);
  if (bytes === undefined) return limit;
  const mtus = Object.values(Mtu).filter((mtu) => mtu <= limit && (128 << mtu) + HEADERS <= bytes);
  return Math.max(Mtu.MTU_256, ...mtus);
}
