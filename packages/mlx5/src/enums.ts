/** `enum mlx5dv_flow_table_type`: which packets a matcher or an action is for. */
export const FlowTableType = {
  /** Packets that a port received. */
  NIC_RX: 0,
  /** Packets that queue pairs send. */
  NIC_TX: 1,
  /** The e-switch's forwarding database. */
  FDB: 2,
  RDMA_RX: 3,
  RDMA_TX: 4,
  RDMA_TRANSPORT_RX: 5,
  RDMA_TRANSPORT_TX: 6,
} as const;
/** One of `FlowTableType`. */
export type FlowTableType = (typeof FlowTableType)[keyof typeof FlowTableType];

/** `enum mlx5dv_flow_action_packet_reformat_type`: which headers come and go. */
export const FlowActionPacketReformatType = {
  /** Decapsulate up to the inner Ethernet header. NIC_RX; no data. */
  L2_TUNNEL_TO_L2: 0,
  /** Put the data in front of the packet. NIC_TX; data: the outer headers. */
  L2_TO_L2_TUNNEL: 1,
  /** Decapsulate up to the inner IP header. NIC_RX; data: the Ethernet header to put in front, 14 or 18 bytes. */
  L3_TUNNEL_TO_L2: 2,
  /** Put the data in the place of the Ethernet header and VLAN tags. NIC_TX; data: the outer headers. */
  L2_TO_L3_TUNNEL: 3,
} as const;
/** One of `FlowActionPacketReformatType`. */
export type FlowActionPacketReformatType =
  (typeof FlowActionPacketReformatType)[keyof typeof FlowActionPacketReformatType];

/** `enum mlx5dv_flow_action_type`: what a flow does. */
export const FlowActionType = {
  DEST_IBV_QP: 0,
  DROP: 1,
  IBV_COUNTER: 2,
  IBV_FLOW_ACTION: 3,
  TAG: 4,
  DEST_DEVX: 5,
  COUNTERS_DEVX: 6,
  DEFAULT_MISS: 7,
  /** Newer than rdma-core 44. */
  COUNTERS_DEVX_WITH_OFFSET: 8,
} as const;
/** One of `FlowActionType`. */
export type FlowActionType = (typeof FlowActionType)[keyof typeof FlowActionType];

/** The parts of match parameters, to be or-ed: `match_criteria_enable`. */
export const MatchCriteria = {
  NONE: 0,
  OUTER: 1,
  MISC: 2,
  INNER: 4,
  MISC2: 8,
  MISC3: 16,
  MISC4: 32,
  MISC5: 64,
} as const;

/** `enum mlx5dv_flow_matcher_attr_mask`: what `comp_mask` says is there. */
export const FlowMatcherMask = { FT_TYPE: 1, IB_PORT: 2 } as const;

/** `enum mlx5dv_context_attr_flags`. */
export const ContextAttrFlags = { DEVX: 1 } as const;

/** `enum mlx5dv_context_comp_mask`: what {@link queryDevice} was told by the device. */
export const ContextMask = {
  CQE_COMPRESION: 1n << 0n,
  SWP: 1n << 1n,
  STRIDING_RQ: 1n << 2n,
  TUNNEL_OFFLOADS: 1n << 3n,
  DYN_BFREGS: 1n << 4n,
  CLOCK_INFO_UPDATE: 1n << 5n,
  FLOW_ACTION_FLAGS: 1n << 6n,
  DC_ODP_CAPS: 1n << 7n,
  HCA_CORE_CLOCK: 1n << 8n,
  NUM_LAG_PORTS: 1n << 9n,
  SIGNATURE_OFFLOAD: 1n << 10n,
  DCI_STREAMS: 1n << 11n,
  WR_MEMCPY_LENGTH: 1n << 12n,
  CRYPTO_OFFLOAD: 1n << 13n,
} as const;

/** `enum mlx5dv_context_flags`. */
export const ContextFlags = {
  CQE_V1: 1n << 0n,
  OBSOLETE: 1n << 1n,
  MPW_ALLOWED: 1n << 2n,
  ENHANCED_MPW: 1n << 3n,
  CQE_128B_COMP: 1n << 4n,
  CQE_128B_PAD: 1n << 5n,
  PACKET_BASED_CREDIT_MODE: 1n << 6n,
  REAL_TIME_TS: 1n << 7n,
} as const;

/** Which fields of {@link Mlx5PortAttr} are valid. */
export const QueryPortFlags = {
  VPORT: 1n << 0n,
  VPORT_VHCA_ID: 1n << 1n,
  VPORT_STEERING_ICM_RX: 1n << 2n,
  VPORT_STEERING_ICM_TX: 1n << 3n,
  VPORT_REG_C0: 1n << 4n,
  ESW_OWNER_VHCA_ID: 1n << 5n,
} as const;
