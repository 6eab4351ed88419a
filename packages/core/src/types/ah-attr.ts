import type { Rate } from '../enums/index.js';

/** A GID: IPv6 text in any spelling (an IPv4-mapped one is `::ffff:10.0.0.1`), or its 16 bytes. */
export type Gid = string | Uint8Array;

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
