import { members, type Members } from '@verbs/core/provider';

enum FlowTableTypeValue {
  /** `MLX5DV_FLOW_TABLE_TYPE_NIC_RX`: packets that a port received. */
  NIC_RX = 0,
  /** `MLX5DV_FLOW_TABLE_TYPE_NIC_TX`: packets that queue pairs send. */
  NIC_TX = 1,
  /** `MLX5DV_FLOW_TABLE_TYPE_FDB`: packets between the functions of an adapter: the e-switch's forwarding database. */
  FDB = 2,
  /** `MLX5DV_FLOW_TABLE_TYPE_RDMA_RX`: RoCE packets that a port received. */
  RDMA_RX = 3,
  /** `MLX5DV_FLOW_TABLE_TYPE_RDMA_TX`: RoCE packets that queue pairs send. */
  RDMA_TX = 4,
  /** `MLX5DV_FLOW_TABLE_TYPE_RDMA_TRANSPORT_RX`: the same, of the port that `ibPort` names; newer than rdma-core 44. */
  RDMA_TRANSPORT_RX = 5,
  /** `MLX5DV_FLOW_TABLE_TYPE_RDMA_TRANSPORT_TX`: the same, of the port that `ibPort` names; newer than rdma-core 44. */
  RDMA_TRANSPORT_TX = 6,
}
/** `enum mlx5dv_flow_table_type`: the packets of a matcher or an action. */
export const FlowTableType: Members<typeof FlowTableTypeValue> = members(FlowTableTypeValue);
/** A value of {@link FlowTableType}. A number that comes from C is one as well; another enumeration's value is not. */
export type FlowTableType = FlowTableTypeValue;

enum FlowActionPacketReformatTypeValue {
  /**
   * `MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2`: decapsulates up to the inner Ethernet header. NIC_RX; no
   * data.
   */
  L2_TUNNEL_TO_L2 = 0,
  /**
   * `MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL`: puts the data in front of the packet. NIC_TX; data: the
   * outer headers.
   */
  L2_TO_L2_TUNNEL = 1,
  /**
   * `MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L3_TUNNEL_TO_L2`: decapsulates up to the inner IP header. NIC_RX; data:
   * the Ethernet header to put in front, 14 or 18 bytes.
   */
  L3_TUNNEL_TO_L2 = 2,
  /**
   * `MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L3_TUNNEL`: puts the data in the place of the Ethernet header and
   * VLAN tags. NIC_TX; data: the outer headers.
   */
  L2_TO_L3_TUNNEL = 3,
}
/** `enum mlx5dv_flow_action_packet_reformat_type`: the headers to add or to remove. */
export const FlowActionPacketReformatType: Members<typeof FlowActionPacketReformatTypeValue> = members(
  FlowActionPacketReformatTypeValue,
);
/** A value of {@link FlowActionPacketReformatType}. A number that comes from C is one as well; another enumeration's value is not. */
export type FlowActionPacketReformatType = FlowActionPacketReformatTypeValue;

enum FlowActionTypeValue {
  /** `MLX5DV_FLOW_ACTION_DEST_IBV_QP`: to a RAW_PACKET queue pair. */
  DEST_IBV_QP = 0,
  /** `MLX5DV_FLOW_ACTION_DROP`: the packet ends here. */
  DROP = 1,
  /** `MLX5DV_FLOW_ACTION_IBV_COUNTER`: counters of libibverbs; the library rejects them. */
  IBV_COUNTER = 2,
  /** `MLX5DV_FLOW_ACTION_IBV_FLOW_ACTION`: a flow action: packet reformat, modify header. */
  IBV_FLOW_ACTION = 3,
  /** `MLX5DV_FLOW_ACTION_TAG`: a number of 24 bits in the completion. */
  TAG = 4,
  /** `MLX5DV_FLOW_ACTION_DEST_DEVX`: to a TIR or a flow table of devx. */
  DEST_DEVX = 5,
  /** `MLX5DV_FLOW_ACTION_COUNTERS_DEVX`: a flow counter of devx counts it. */
  COUNTERS_DEVX = 6,
  /** `MLX5DV_FLOW_ACTION_DEFAULT_MISS`: to the destination of packets without a flow. */
  DEFAULT_MISS = 7,
  /** `MLX5DV_FLOW_ACTION_COUNTERS_DEVX_WITH_OFFSET`: one counter of a bulk counts it. Newer than rdma-core 44. */
  COUNTERS_DEVX_WITH_OFFSET = 8,
}
/** `enum mlx5dv_flow_action_type`: the action of a flow. */
export const FlowActionType: Members<typeof FlowActionTypeValue> = members(FlowActionTypeValue);
/** A value of {@link FlowActionType}. A number that comes from C is one as well; another enumeration's value is not. */
export type FlowActionType = FlowActionTypeValue;

enum MatchCriteriaValue {
  /** No part: every packet. */
  NONE = 0,
  /** `outer` of {@link MatchParams}. */
  OUTER = 1,
  /** `misc`. */
  MISC = 2,
  /** `inner`. */
  INNER = 4,
  /** `misc2`. */
  MISC2 = 8,
  /** `misc3`. */
  MISC3 = 16,
  /** `misc4`. */
  MISC4 = 32,
  /** `misc5`. */
  MISC5 = 64,
}
/** The parts of match parameters, or-ed: `match_criteria_enable`. */
export const MatchCriteria: Members<typeof MatchCriteriaValue> = members(MatchCriteriaValue);
/** Or-ed values of {@link MatchCriteria}, or 0. A number that comes from C is one as well; another enumeration's value is not. */
export type MatchCriteria = MatchCriteriaValue | 0;

enum FlowMatcherMaskValue {
  /** `MLX5DV_FLOW_MATCHER_MASK_FT_TYPE`: `ftType`. */
  FT_TYPE = 1,
  /** `MLX5DV_FLOW_MATCHER_MASK_IB_PORT`: `ibPort`. Newer than rdma-core 44. */
  IB_PORT = 2,
}
/** `enum mlx5dv_flow_matcher_attr_mask`: the valid fields, for `comp_mask`. */
export const FlowMatcherMask: Members<typeof FlowMatcherMaskValue> = members(FlowMatcherMaskValue);
/** Or-ed values of {@link FlowMatcherMask}, or 0. A number that comes from C is one as well; another enumeration's value is not. */
export type FlowMatcherMask = FlowMatcherMaskValue | 0;

enum ContextAttrFlagsValue {
  /** `MLX5DV_CONTEXT_FLAGS_DEVX`: open the context for devx; fails where devx is not allowed. */
  DEVX = 1,
}
/** `enum mlx5dv_context_attr_flags`. */
export const ContextAttrFlags: Members<typeof ContextAttrFlagsValue> = members(ContextAttrFlagsValue);
/** Or-ed values of {@link ContextAttrFlags}, or 0. A number that comes from C is one as well; another enumeration's value is not. */
export type ContextAttrFlags = ContextAttrFlagsValue | 0;

/** `enum mlx5dv_context_comp_mask`: the valid fields of {@link queryDevice}. */
export const ContextMask = {
  /** `MLX5DV_CONTEXT_MASK_CQE_COMPRESION`: `cqeCompCaps`. */
  CQE_COMPRESION: 1n << 0n,
  /** `MLX5DV_CONTEXT_MASK_SWP`: `swParsingCaps`. */
  SWP: 1n << 1n,
  /** `MLX5DV_CONTEXT_MASK_STRIDING_RQ`: `stridingRqCaps`. */
  STRIDING_RQ: 1n << 2n,
  /** `MLX5DV_CONTEXT_MASK_TUNNEL_OFFLOADS`: `tunnelOffloadsCaps`. */
  TUNNEL_OFFLOADS: 1n << 3n,
  /** `MLX5DV_CONTEXT_MASK_DYN_BFREGS`: `maxDynamicBfregs`. */
  DYN_BFREGS: 1n << 4n,
  /** `MLX5DV_CONTEXT_MASK_CLOCK_INFO_UPDATE`: `maxClockInfoUpdateNsec`. */
  CLOCK_INFO_UPDATE: 1n << 5n,
  /** `MLX5DV_CONTEXT_MASK_FLOW_ACTION_FLAGS`: `flowActionFlags`. */
  FLOW_ACTION_FLAGS: 1n << 6n,
  /** `MLX5DV_CONTEXT_MASK_DC_ODP_CAPS`: `dcOdpCaps`. */
  DC_ODP_CAPS: 1n << 7n,
  /** `MLX5DV_CONTEXT_MASK_HCA_CORE_CLOCK`: the mapped clock, which is none of the fields here. */
  HCA_CORE_CLOCK: 1n << 8n,
  /** `MLX5DV_CONTEXT_MASK_NUM_LAG_PORTS`: `numLagPorts`. */
  NUM_LAG_PORTS: 1n << 9n,
  /** `MLX5DV_CONTEXT_MASK_SIGNATURE_OFFLOAD`: `sigCaps`. */
  SIGNATURE_OFFLOAD: 1n << 10n,
  /** `MLX5DV_CONTEXT_MASK_DCI_STREAMS`: `dciStreamsCaps`. */
  DCI_STREAMS: 1n << 11n,
  /** `MLX5DV_CONTEXT_MASK_WR_MEMCPY_LENGTH`: `maxWrMemcpyLength`. */
  WR_MEMCPY_LENGTH: 1n << 12n,
  /** `MLX5DV_CONTEXT_MASK_CRYPTO_OFFLOAD`: `cryptoCaps`. */
  CRYPTO_OFFLOAD: 1n << 13n,
} as const;

/** `enum mlx5dv_context_flags`. */
export const ContextFlags = {
  /** `MLX5DV_CONTEXT_FLAGS_CQE_V1`: completions have the newer format. */
  CQE_V1: 1n << 0n,
  /** `MLX5DV_CONTEXT_FLAGS_OBSOLETE`: obsolete. */
  OBSOLETE: 1n << 1n,
  /** `MLX5DV_CONTEXT_FLAGS_MPW_ALLOWED`: one send entry may carry several packets. */
  MPW_ALLOWED: 1n << 2n,
  /** `MLX5DV_CONTEXT_FLAGS_ENHANCED_MPW`: the same, with inline data among them. */
  ENHANCED_MPW: 1n << 3n,
  /** `MLX5DV_CONTEXT_FLAGS_CQE_128B_COMP`: completions of 128 bytes can be compressed. */
  CQE_128B_COMP: 1n << 4n,
  /** `MLX5DV_CONTEXT_FLAGS_CQE_128B_PAD`: completions of 64 bytes can be padded to 128. */
  CQE_128B_PAD: 1n << 5n,
  /** `MLX5DV_CONTEXT_FLAGS_PACKET_BASED_CREDIT_MODE`: RC can have credits for packets instead of messages. */
  PACKET_BASED_CREDIT_MODE: 1n << 6n,
  /** `MLX5DV_CONTEXT_FLAGS_REAL_TIME_TS`: timestamps can be wall clock time. */
  REAL_TIME_TS: 1n << 7n,
} as const;

/** The valid fields of {@link Mlx5PortAttr}. */
export const QueryPortFlags = {
  /** `MLX5DV_QUERY_PORT_VPORT`: the port's number in the e-switch. */
  VPORT: 1n << 0n,
  /** `MLX5DV_QUERY_PORT_VPORT_VHCA_ID`: the number of the function behind it. */
  VPORT_VHCA_ID: 1n << 1n,
  /** `MLX5DV_QUERY_PORT_VPORT_STEERING_ICM_RX`: the start of its receive steering in the device's memory. */
  VPORT_STEERING_ICM_RX: 1n << 2n,
  /** `MLX5DV_QUERY_PORT_VPORT_STEERING_ICM_TX`: the start of its send steering in the device's memory. */
  VPORT_STEERING_ICM_TX: 1n << 3n,
  /** `MLX5DV_QUERY_PORT_VPORT_REG_C0`: register C0 of its packets. */
  VPORT_REG_C0: 1n << 4n,
  /** `MLX5DV_QUERY_PORT_ESW_OWNER_VHCA_ID`: the number of the function that owns the e-switch. */
  ESW_OWNER_VHCA_ID: 1n << 5n,
} as const;
