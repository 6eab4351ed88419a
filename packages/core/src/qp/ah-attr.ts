import { fields, flag, maybe, or, u16, u20, u4, u7, u8 } from '../base/fields.js';
import { type Gid, gidBytes, gidText } from '../base/gid.js';
import type { NativeAhAttr } from '../base/native.js';
import { typeError, valueError } from '../base/validate.js';
import type { Rate } from '../enums/index.js';

/** `struct ibv_global_route`: how packets are routed beyond the subnet; on RoCE always. */
export interface GlobalRoute {
  /** The destination's GID, or a multicast group. */
  dgid: Gid;
  /** 20 bits, default 0; on RoCE v2 the UDP source port is derived from it, and routers choose a path by that. */
  flowLabel?: number;
  /**
   * Which of the port's own GIDs is the source: an index of `ctx.gidTable(port)`, 0 to 255. Default that of
   * `ctx.defaultGid(port)`; in `qp.modify`, 0.
   */
  sgidIndex?: number;
  /** How many routers may forward a packet: 0 to 255, default 64. */
  hopLimit?: number;
  /** The upper six bits are the DSCP, the lower two ECN: 0 to 255, default 0. */
  trafficClass?: number;
}

/** `struct ibv_ah_attr`: the path to a peer. */
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
  staticRate?: Rate;
  /** Whether `grh` is used; default: whether `grh` is given. RoCE ports require it. */
  isGlobal?: boolean;
  /** The route in the packets' global header; required on RoCE. */
  grh?: GlobalRoute;
}

/** The result of `qp.query()`: all fields are set. */
export type FullAhAttr = Required<Omit<AhAttr, 'grh'>> & {
  /** All zero if `isGlobal` is false. */
  grh: FullGlobalRoute;
};

/** The result of `qp.query()`: all fields are set. */
export type FullGlobalRoute = Required<Omit<GlobalRoute, 'dgid'>> & {
  /** The destination's GID as IPv6 text. */
  dgid: string;
};

const route = fields({
  dgid: (value: unknown, path: string) => {
    if (value === undefined) throw typeError(path, 'a GID as IPv6 text or as 16 bytes', value);
    return gidBytes(value, path);
  },
  flowLabel: or(u20(), 0),
  sgidIndex: maybe(u8()),
  hopLimit: or(u8(), 64),
  trafficClass: or(u8(), 0),
});

const address = fields({
  portNum: u8(1),
  dlid: or(u16(), 0),
  sl: or(u4(), 0),
  srcPathBits: or(u7(), 0),
  staticRate: or(u8(), 0),
  isGlobal: maybe(flag()),
  grh: maybe(route),
});

/** Checks every field, by its path. `sourceOf` finds the index of the port's own GID where none is given; else it is 0. */
export function nativeAhAttr(
  value: unknown,
  path: string,
  sourceOf: (portNum: number) => number = () => 0,
): NativeAhAttr {
  const { grh, ...attr } = address(value, path);
  const isGlobal = attr.isGlobal ?? grh !== undefined;
  if (grh !== undefined) {
    const sgidIndex = grh.sgidIndex ?? (isGlobal ? sourceOf(attr.portNum) : 0);
    return { ...attr, isGlobal, grh: { ...grh, sgidIndex } };
  }
  if (isGlobal) throw valueError(`${path}.grh`, 'is missing although isGlobal is true');
  return { ...attr, isGlobal };
}

export function publicAhAttr(attr: Required<NativeAhAttr>): FullAhAttr {
  return { ...attr, grh: { ...attr.grh, dgid: gidText(attr.grh.dgid) } };
}
