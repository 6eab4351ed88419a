import type { FlowAttrType, FlowFlags } from '../enums/index.js';
import type { Counters } from './counters.js';

/** A value to compare and the bits of it that count. */
export interface FlowMatch<T> {
  /** The values; fields that are left out are not compared. */
  val: T;
  /**
   * The bits that count; of a field without a mask all of them. Many devices support only all bits of a field, or none.
   */
  mask?: T;
}

/** Addresses are bytes in network order; other numbers are in host order. Fields that are left out match any value. */
export interface FlowFilters {
  /** `ibv_flow_spec_eth`: the Ethernet header. */
  eth: {
    /** The destination's MAC address, 6 bytes. */
    dstMac?: Uint8Array;
    /** The source's MAC address, 6 bytes. */
    srcMac?: Uint8Array;
    /** 16 bits: 0x0800 is IPv4, 0x86dd IPv6. */
    etherType?: number;
    /** 16 bits: priority, drop eligibility and VLAN, as in the header. */
    vlanTag?: number;
  };
  /** `ibv_flow_spec_ipv4`: the addresses of IPv4. */
  ipv4: {
    /** 4 bytes. */
    srcIp?: Uint8Array;
    /** 4 bytes. */
    dstIp?: Uint8Array;
  };
  /** `ibv_flow_spec_ipv4_ext`: more of the header of IPv4. */
  ipv4Ext: {
    /** 4 bytes. */
    srcIp?: Uint8Array;
    /** 4 bytes. */
    dstIp?: Uint8Array;
    /** 8 bits: 6 is TCP, 17 UDP. */
    proto?: number;
    /** 8 bits: DSCP and ECN. */
    tos?: number;
    /** 8 bits: hops left. */
    ttl?: number;
    /** 8 bits: the flags about fragments. */
    flags?: number;
  };
  /** `ibv_flow_spec_ipv6`: the header of IPv6. */
  ipv6: {
    /** 16 bytes. */
    srcIp?: Uint8Array;
    /** 16 bytes. */
    dstIp?: Uint8Array;
    /** 20 bits. */
    flowLabel?: number;
    /** 8 bits: 6 is TCP, 17 UDP. */
    nextHdr?: number;
    /** 8 bits: DSCP and ECN. */
    trafficClass?: number;
    /** 8 bits: hops left. */
    hopLimit?: number;
  };
  /** `ibv_flow_spec_tcp_udp`: the ports of TCP. */
  tcp: PortFilter;
  /** `ibv_flow_spec_tcp_udp`: the ports of UDP. */
  udp: PortFilter;
  /** `ibv_flow_spec_esp`: the header of IPsec's ESP. */
  esp: {
    /** 32 bits: the security parameters index. */
    spi?: number;
    /** 32 bits: the sequence number. */
    seq?: number;
  };
  /** `ibv_flow_spec_tunnel`: the header of VXLAN. */
  vxlanTunnel: {
    /** 24 bits: the network identifier (VNI). */
    tunnelId?: number;
  };
  /** `ibv_flow_spec_gre`: the header of GRE. */
  gre: {
    /** 16 bits: the first of the header: the flags of optional fields, and the version. */
    cKsRes0Ver?: number;
    /** 16 bits: the payload's ethertype. */
    protocol?: number;
    /** 32 bits. */
    key?: number;
  };
  /** `ibv_flow_spec_mpls`: a label of MPLS. */
  mpls: {
    /** 32 bits: label, traffic class, bottom of stack and TTL, as in the header. */
    label?: number;
  };
}

/** `struct ibv_flow_tcp_udp_filter`. */
export interface PortFilter {
  /** 16 bits. */
  dstPort?: number;
  /** 16 bits. */
  srcPort?: number;
}

/** `ibv_flow_spec_action_tag`: a number for the completions. */
export interface FlowTag {
  /** Distinguishes this action from the others. */
  type: 'tag';
  /** 32 bits, of which mlx5 has 24; `wc.flowTag` of a queue created with WcExFlags.FLOW_TAG. */
  tagId: number;
}

/** `ibv_flow_spec_action_drop`: the packet is dropped. */
export interface FlowDrop {
  /** Distinguishes this action from the others. */
  type: 'drop';
}

/** `ibv_flow_spec_counter_action`: the packet is counted. */
export interface FlowCount {
  /** Distinguishes this action from the others. */
  type: 'count';
  /** Where; see {@link Context.createCounters}. */
  counters: Counters;
}

/** `struct ibv_flow_spec`: one header to compare, or one action. */
export type FlowSpec =
  | {
      [Type in keyof FlowFilters]: {
        /** Which header: a name in {@link FlowFilters}. */
        type: Type;
        /** Of the encapsulated packet (IBV_FLOW_SPEC_INNER); default false. */
        inner?: boolean;
      } & FlowMatch<FlowFilters[Type]>;
    }[keyof FlowFilters]
  | FlowTag
  | FlowDrop
  | FlowCount;

/** `struct ibv_flow_attr`. */
export interface FlowAttr {
  /** See {@link FlowAttrType}; default NORMAL. */
  type?: FlowAttrType;
  /** 0 is the highest, default 0. */
  priority?: number;
  /** Default 1. */
  port?: number;
  /** See {@link FlowFlags}; default 0. */
  flags?: FlowFlags;
  /** From the outer header to the inner, actions last. */
  specs?: readonly FlowSpec[];
}
