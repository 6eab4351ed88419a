import { type Gid, gidBytes, gidText } from '../base/gid.js';
import type { NativeAhAttr } from '../base/native.js';
import { boolean, integer, object, optional, typeError, valueError } from '../base/validate.js';

/** `struct ibv_global_route`: how packets are routed beyond the subnet; on RoCE always. */
export interface GlobalRoute {
  /** The destination's GID, or a multicast group. */
  dgid: Gid;
  /** 20 bits, default 0; on RoCE v2 the UDP source port is made of it, by which routers choose among paths. */
  flowLabel?: number;
  /** Which of the port's own GIDs is the source: an index of `ctx.gidTable(port)`, 0 to 255, default 0. */
  sgidIndex?: number;
  /** How many routers may forward a packet: 0 to 255, default 64. */
  hopLimit?: number;
  /** The upper six bits are the DSCP, the lower two ECN: 0 to 255, default 0. */
  trafficClass?: number;
}

/** `struct ibv_ah_attr`: the way to a peer. */
export interface AhAttr {
  /** The local port, from 1. */
  portNum: number;
  /** The destination's LID on InfiniBand, 0 to 65535, default 0. */
  dlid?: number;
  /** Service level, the priority class of the packets: 0 to 15, default 0. */
  sl?: number;
  /** The low bits of the source LID on InfiniBand, of a port with several (`lmc`): 0 to 127, default 0. */
  srcPathBits?: number;
  /** See {@link Rate}; default 0, the port's rate. */
  staticRate?: number;
  /** Whether `grh` is used; default: whether `grh` is given. RoCE ports require it. */
  isGlobal?: boolean;
  /** The route in the packets' global header; required on RoCE. */
  grh?: GlobalRoute;
}

/** As `qp.query()` gives it back: everything is there. */
export type FullAhAttr = Required<Omit<AhAttr, 'grh'>> & {
  /** All zero if `isGlobal` is false. */
  grh: FullGlobalRoute;
};

/** As `qp.query()` gives it back: everything is there. */
export type FullGlobalRoute = Required<Omit<GlobalRoute, 'dgid'>> & {
  /** The destination's GID as IPv6 text. */
  dgid: string;
};

const names = ['portNum', 'dlid', 'sl', 'srcPathBits', 'staticRate', 'isGlobal', 'grh'];
const routeNames = ['dgid', 'flowLabel', 'sgidIndex', 'hopLimit', 'trafficClass'];

/** Checks every field, by its path. */
export function nativeAhAttr(value: unknown, path: string): NativeAhAttr {
  const attr = object(value, path, names);
  const grh = attr['grh'];
  const isGlobal = boolean(attr['isGlobal'], `${path}.isGlobal`, grh !== undefined);
  if (isGlobal && grh === undefined) throw valueError(`${path}.grh`, 'is missing although isGlobal is true');
  return {
    portNum: integer(attr['portNum'], `${path}.portNum`, 1, 255),
    dlid: optional(attr['dlid'], `${path}.dlid`, 0xffff, 0),
    sl: optional(attr['sl'], `${path}.sl`, 15, 0),
    srcPathBits: optional(attr['srcPathBits'], `${path}.srcPathBits`, 127, 0),
    staticRate: optional(attr['staticRate'], `${path}.staticRate`, 255, 0),
    isGlobal,
    ...(grh === undefined ? {} : { grh: nativeRoute(grh, `${path}.grh`) }),
  };
}

function nativeRoute(value: unknown, path: string): NonNullable<NativeAhAttr['grh']> {
  const route = object(value, path, routeNames);
  if (route['dgid'] === undefined) throw typeError(`${path}.dgid`, 'a GID as IPv6 text or as 16 bytes', undefined);
  return {
    dgid: gidBytes(route['dgid'], `${path}.dgid`),
    flowLabel: optional(route['flowLabel'], `${path}.flowLabel`, 0xfffff, 0),
    sgidIndex: optional(route['sgidIndex'], `${path}.sgidIndex`, 255, 0),
    hopLimit: optional(route['hopLimit'], `${path}.hopLimit`, 255, 64),
    trafficClass: optional(route['trafficClass'], `${path}.trafficClass`, 255, 0),
  };
}

export function publicAhAttr(attr: Required<NativeAhAttr>): FullAhAttr {
  return { ...attr, grh: { ...attr.grh, dgid: gidText(attr.grh.dgid) } };
}
