import { gidText } from '@verbs/core/provider';
import type { NativePath } from '../base/native.js';

/** `struct ibv_sa_path_rec`: a path to the peer. */
export interface PathRecord {
  /** The peer's GID. */
  dgid: string;
  /** This side's GID. */
  sgid: string;
  /** The peer's LID; 0 on RoCE. */
  dlid: number;
  /** This side's LID; 0 on RoCE. */
  slid: number;
  /** 20 bits. */
  flowLabel: number;
  /** How many routers may forward a packet. */
  hopLimit: number;
  /** The upper six bits are the DSCP, the lower two ECN. */
  trafficClass: number;
  /** The partition. */
  pkey: number;
  /** Service level. */
  sl: number;
  /** The largest packet: see `Mtu` of @verbs/core. */
  mtu: number;
  /** See `Rate` of @verbs/core. */
  rate: number;
  /** How long a packet may be on its way, as a code: 4.096 µs · 2^n. */
  packetLifeTime: number;
}

/** `struct rdma_route`, without the addresses. */
export interface Route {
  /** This side's GID. */
  sgid: string;
  /** The peer's GID. */
  dgid: string;
  /** The partition. */
  pkey: number;
  /** Empty before the route is resolved. */
  paths: PathRecord[];
}

export function publicPath(path: NativePath): PathRecord {
  return { ...path, dgid: gidText(path.dgid), sgid: gidText(path.sgid) };
}
