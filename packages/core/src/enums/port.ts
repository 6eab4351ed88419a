import { members, type Members } from './members.js';

enum PortStateValue {
  /** `IBV_PORT_NOP`: no state; not seen in queries. */
  NOP = 0,
  /** `IBV_PORT_DOWN`: no link. */
  DOWN = 1,
  /** `IBV_PORT_INIT`: a link, but no subnet manager has set the port up. */
  INIT = 2,
  /** `IBV_PORT_ARMED`: set up, not yet switched on. */
  ARMED = 3,
  /** `IBV_PORT_ACTIVE`: works. */
  ACTIVE = 4,
  /** `IBV_PORT_ACTIVE_DEFER`: was active and lost its link a moment ago, which may come back. */
  ACTIVE_DEFER = 5,
}
/** `enum ibv_port_state`: only an ACTIVE port carries traffic. */
export const PortState: Members<typeof PortStateValue> = members(PortStateValue);
/** A value of {@link PortState}. A number that comes from C is one as well; another enumeration's value is not. */
export type PortState = PortStateValue;

enum LinkLayerValue {
  /** `IBV_LINK_LAYER_UNSPECIFIED`: an old device, read as InfiniBand. */
  UNSPECIFIED = 0,
  /** `IBV_LINK_LAYER_INFINIBAND`: addresses are LIDs, beyond the subnet GIDs. */
  INFINIBAND = 1,
  /** `IBV_LINK_LAYER_ETHERNET`: RoCE; addresses are GIDs. */
  ETHERNET = 2,
}
/** `IBV_LINK_LAYER_*`: the layer under the transport. */
export const LinkLayer: Members<typeof LinkLayerValue> = members(LinkLayerValue);
/** A value of {@link LinkLayer}. A number that comes from C is one as well; another enumeration's value is not. */
export type LinkLayer = LinkLayerValue;

enum PortFlagsValue {
  /** `IBV_QPF_GRH_REQUIRED`: address handles of this port need `isGlobal` and `grh`. */
  GRH_REQUIRED = 1 << 0,
}
/** Bits of `portAttr.flags`. */
export const PortFlags: Members<typeof PortFlagsValue> = members(PortFlagsValue);
/** Or-ed values of {@link PortFlags}, or 0. A number that comes from C is one as well; another enumeration's value is not. */
export type PortFlags = PortFlagsValue | 0;

enum GidTypeValue {
  /** `IBV_GID_TYPE_IB`: InfiniBand. */
  IB = 0,
  /** `IBV_GID_TYPE_ROCE_V1`: RoCE on Ethernet itself, within one network. */
  ROCE_V1 = 1,
  /** `IBV_GID_TYPE_ROCE_V2`: RoCE in UDP port 4791, which routers forward. */
  ROCE_V2 = 2,
}
/** `enum ibv_gid_type` of an entry of the GID table: which packets go out if it is the source. */
export const GidType: Members<typeof GidTypeValue> = members(GidTypeValue);
/** A value of {@link GidType}. A number that comes from C is one as well; another enumeration's value is not. */
export type GidType = GidTypeValue;

enum RateValue {
  /** `IBV_RATE_MAX`: the port's rate. */
  MAX = 0,
  /** `IBV_RATE_2_5_GBPS`: 2.5 Gbit/s. */
  GBPS_2_5 = 2,
  /** `IBV_RATE_5_GBPS`: 5 Gbit/s. */
  GBPS_5 = 5,
  /** `IBV_RATE_10_GBPS`: 10 Gbit/s. */
  GBPS_10 = 3,
  /** `IBV_RATE_14_GBPS`: 14 Gbit/s. */
  GBPS_14 = 11,
  /** `IBV_RATE_20_GBPS`: 20 Gbit/s. */
  GBPS_20 = 6,
  /** `IBV_RATE_25_GBPS`: 25 Gbit/s. */
  GBPS_25 = 15,
  /** `IBV_RATE_28_GBPS`: 28 Gbit/s. */
  GBPS_28 = 19,
  /** `IBV_RATE_30_GBPS`: 30 Gbit/s. */
  GBPS_30 = 4,
  /** `IBV_RATE_40_GBPS`: 40 Gbit/s. */
  GBPS_40 = 7,
  /** `IBV_RATE_50_GBPS`: 50 Gbit/s. */
  GBPS_50 = 20,
  /** `IBV_RATE_56_GBPS`: 56 Gbit/s. */
  GBPS_56 = 12,
  /** `IBV_RATE_60_GBPS`: 60 Gbit/s. */
  GBPS_60 = 8,
  /** `IBV_RATE_80_GBPS`: 80 Gbit/s. */
  GBPS_80 = 9,
  /** `IBV_RATE_100_GBPS`: 100 Gbit/s. */
  GBPS_100 = 16,
  /** `IBV_RATE_112_GBPS`: 112 Gbit/s. */
  GBPS_112 = 13,
  /** `IBV_RATE_120_GBPS`: 120 Gbit/s. */
  GBPS_120 = 10,
  /** `IBV_RATE_168_GBPS`: 168 Gbit/s. */
  GBPS_168 = 14,
  /** `IBV_RATE_200_GBPS`: 200 Gbit/s. */
  GBPS_200 = 17,
  /** `IBV_RATE_300_GBPS`: 300 Gbit/s. */
  GBPS_300 = 18,
  /** `IBV_RATE_400_GBPS`: 400 Gbit/s. */
  GBPS_400 = 21,
  /** `IBV_RATE_600_GBPS`: 600 Gbit/s. */
  GBPS_600 = 22,
  /** `IBV_RATE_800_GBPS`: 800 Gbit/s. */
  GBPS_800 = 23,
  /** `IBV_RATE_1200_GBPS`: 1200 Gbit/s. */
  GBPS_1200 = 24,
}
/** `enum ibv_rate`, for `staticRate`: an upper bound of the data rate on a path. MAX leaves the rate to the port. */
export const Rate: Members<typeof RateValue> = members(RateValue);
/** A value of {@link Rate}. A number that comes from C is one as well; another enumeration's value is not. */
export type Rate = RateValue;
