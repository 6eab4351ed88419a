import { errno } from '../base/errno.js';
import { pathReason } from '../reasons/path-reason.js';
import type { FullAhAttr } from '../types/ah-attr.js';
import type { Context } from '../types/objects.js';

/** What is wrong with an address that a device rejected: port, own GID, or the peer's. */
export function addressHint(context: Context, code: number, { portNum, isGlobal, grh }: FullAhAttr) {
  try {
    const { sgidIndex, dgid } = grh;
    if (Math.abs(code) !== errno.EINVAL) return pathReason(Math.abs(code), { context, portNum, sgidIndex, dgid });
    const { physPortCnt } = context.queryDevice();
    if (portNum < 1 || portNum > physPortCnt)
      return `there is no port ${portNum}: ports count from 1 to ${physPortCnt}`;
    if (!isGlobal) return 'see that isGlobal and grh fit the port';
    const table = context.gidTable(portNum);
    const own = table.find(({ index }) => index === grh.sgidIndex);
    const there = table.map(({ index, gid }) => `${index} (${gid})`).join(', ');
    if (own === undefined) return `grh.sgidIndex ${grh.sgidIndex} is no GID of port ${portNum}: there are ${there}`;
    return (
      `port ${portNum} exists, and GID ${own.index} is ${own.gid}: it does not reach grh.dgid ${grh.dgid}. Both must be ` +
      `IPv4-mapped (::ffff:a.b.c.d) or both IPv6; the port has the GIDs ${there}`
    );
  } catch {
    return undefined;
  }
}
