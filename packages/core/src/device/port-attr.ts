import type { GidType, LinkLayer, Mtu, PortFlags, PortState } from '../enums/index.js';

/** `struct ibv_port_attr`: the present state of a port. */
export interface PortAttr {
  /** `state`: see {@link PortState}. */
  state: PortState;
  /** `max_mtu`: the largest that the port supports; see {@link Mtu}. */
  maxMtu: Mtu;
  /** `active_mtu`: the largest now, the bound of `pathMtu`; see {@link Mtu}. */
  activeMtu: Mtu;
  /** `gid_tbl_len`: entries of the GID table, the empty ones included. */
  gidTblLen: number;
  /** `port_cap_flags`: the bits of `enum ibv_port_cap_flags`: the port's capabilities and agents. */
  portCapFlags: number;
  /** `max_msg_sz`: the largest message, in bytes. */
  maxMsgSz: number;
  /** `bad_pkey_cntr`: packets with a wrong partition key. */
  badPkeyCntr: number;
  /** `qkey_viol_cntr`: datagrams with a wrong qkey. */
  qkeyViolCntr: number;
  /** `pkey_tbl_len`: entries of the table of partition keys. */
  pkeyTblLen: number;
  /** `lid`: the port's address in its InfiniBand subnet; 0 on Ethernet. */
  lid: number;
  /** `sm_lid`: the LID of the subnet manager; 0 on Ethernet. */
  smLid: number;
  /** `lmc`: the port has 2^lmc LIDs from `lid` on. */
  lmc: number;
  /** `max_vl_num`: virtual lanes for data, as a code: 1 to 5 for 1, 2, 4, 8 and 15 lanes. */
  maxVlNum: number;
  /** `sm_sl`: the service level of the subnet manager. */
  smSl: number;
  /** `subnet_timeout`: the longest way through the subnet: 4.096 µs · 2^n. */
  subnetTimeout: number;
  /** `init_type_reply`: which initialisation the subnet manager did. */
  initTypeReply: number;
  /** `active_width`: lanes of the link, as a code: 1, 2, 4, 8 and 16 for 1, 4, 8, 12 and 2 lanes. */
  activeWidth: number;
  /**
   * `active_speed`: Gbit/s of a lane, as a code: 1 is 2.5, 2 is 5, 4 and 8 are 10, 16 is 14, 32 is 25, 64 is 50,
   * 128 is 100.
   */
  activeSpeed: number;
  /** `active_speed_ex`: the same in 32 bits; 0 from a libibverbs before release 49. */
  activeSpeedEx: number;
  /**
   * `phys_state`: 1 asleep, 2 polling, 3 disabled, 4 training, 5 link up, 6 recovering from an error, 7 under test.
   */
  physState: number;
  /** `link_layer`: see {@link LinkLayer}. */
  linkLayer: LinkLayer;
  /** `flags`: see {@link PortFlags}. */
  flags: PortFlags;
  /** `port_cap_flags2`: the bits of `enum ibv_port_cap_flags2`. */
  portCapFlags2: number;
}

/** `struct ibv_gid_entry`: one address of a port. */
export interface GidEntry {
  /** `gid_index`: as `sgidIndex` names it. */
  index: number;
  /** `port_num`: the port, from 1. */
  portNum: number;
  /** `gid`: IPv6 text, for instance `::ffff:10.0.0.1`. */
  gid: string;
  /** `gid_type`: see {@link GidType}. */
  type: GidType;
  /** `ndev_ifindex`: the network interface's index, 0 if there is none. */
  ndevIfindex: number;
}
