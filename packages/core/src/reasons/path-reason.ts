import { errno } from '../base/errno.js';
import { portHolder } from '../base/port-holder.js';
import { routeMtu } from '../base/route.js';
import type { Context } from '../types/objects.js';

const ROCE_PORT = 4791;

/** A path that the library refused. */
export interface RefusedPath {
  context: Context;
  portNum: number;
  sgidIndex: number;
  /** The peer's GID as text. */
  dgid: string;
}

/** Why a path was refused with ENETUNREACH or EADDRINUSE, in the program's names; undefined where nobody knows more. */
export function pathReason(code: number, { context, portNum, sgidIndex, dgid }: RefusedPath): string | undefined {
  if (code !== errno.ENETUNREACH && code !== errno.EADDRINUSE) return undefined;
  const table = context.gidTable(portNum);
  const own = table.find(({ index }) => index === sgidIndex)?.gid;
  if (own === undefined) return undefined;
  if (code === errno.EADDRINUSE) {
    const holder = portHolder('udp', ROCE_PORT, own);
    return (
      `UDP port ${ROCE_PORT} at ${own}, GID ${sgidIndex} of port ${portNum}, is held by ${holder ?? 'a program of another user'}: ` +
      'end that, or choose another sgidIndex'
    );
  }
  const reaching = table.find(
    ({ gid }) => gid !== own && isIpv4(gid) === isIpv4(own) && routeMtu(gid, dgid) !== undefined,
  );
  if (reaching === undefined) return undefined;
  const loopback = own.startsWith('::ffff:127.') || own === '::1' ? ', a loopback address,' : '';
  return (
    `GID ${sgidIndex} (${own})${loopback} does not reach ${dgid}, and GID ${reaching.index} (${reaching.gid}) does: ` +
    `give sgidIndex ${reaching.index}, or leave it out at both ends`
  );
}

const isIpv4 = (gid: string) => gid.startsWith('::ffff:');
