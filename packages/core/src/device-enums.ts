/** `enum ibv_node_type`. */
export const NodeType = {
  UNKNOWN: -1,
  CA: 1,
  SWITCH: 2,
  ROUTER: 3,
  RNIC: 4,
  USNIC: 5,
  USNIC_UDP: 6,
  UNSPECIFIED: 7,
} as const;

/** `enum ibv_transport_type`. */
export const TransportType = { UNKNOWN: -1, IB: 0, IWARP: 1, USNIC: 2, USNIC_UDP: 3, UNSPECIFIED: 4 } as const;

/** `enum ibv_port_state`. */
export const PortState = { NOP: 0, DOWN: 1, INIT: 2, ARMED: 3, ACTIVE: 4, ACTIVE_DEFER: 5 } as const;

/** `IBV_LINK_LAYER_*`. */
export const LinkLayer = { UNSPECIFIED: 0, INFINIBAND: 1, ETHERNET: 2 } as const;

/** `enum ibv_atomic_cap`. */
export const AtomicCap = { NONE: 0, HCA: 1, GLOB: 2 } as const;

/** Bits of `portAttr.flags`. */
export const PortFlags = {
  /** IBV_QPF_GRH_REQUIRED: address handles of this port need `isGlobal` and `grh`. */
  GRH_REQUIRED: 1 << 0,
} as const;

/** `enum ibv_gid_type` of an entry of the GID table. */
export const GidType = { IB: 0, ROCE_V1: 1, ROCE_V2: 2 } as const;

/** `enum ibv_rate`, for `staticRate`: MAX leaves the rate to the port. */
export const Rate = {
  MAX: 0,
  GBPS_2_5: 2,
  GBPS_5: 5,
  GBPS_10: 3,
  GBPS_14: 11,
  GBPS_20: 6,
  GBPS_25: 15,
  GBPS_28: 19,
  GBPS_30: 4,
  GBPS_40: 7,
  GBPS_50: 20,
  GBPS_56: 12,
  GBPS_60: 8,
  GBPS_80: 9,
  GBPS_100: 16,
  GBPS_112: 13,
  GBPS_120: 10,
  GBPS_168: 14,
  GBPS_200: 17,
  GBPS_300: 18,
  GBPS_400: 21,
  GBPS_600: 22,
  GBPS_800: 23,
  GBPS_1200: 24,
} as const;

/** `enum ibv_device_cap_flags`. */
export const DeviceCapFlags = {
  RESIZE_MAX_WR: 1,
  BAD_PKEY_CNTR: 1 << 1,
  BAD_QKEY_CNTR: 1 << 2,
  RAW_MULTI: 1 << 3,
  AUTO_PATH_MIG: 1 << 4,
  CHANGE_PHY_PORT: 1 << 5,
  UD_AV_PORT_ENFORCE: 1 << 6,
  CURR_QP_STATE_MOD: 1 << 7,
  SHUTDOWN_PORT: 1 << 8,
  INIT_TYPE: 1 << 9,
  PORT_ACTIVE_EVENT: 1 << 10,
  SYS_IMAGE_GUID: 1 << 11,
  RC_RNR_NAK_GEN: 1 << 12,
  SRQ_RESIZE: 1 << 13,
  N_NOTIFY_CQ: 1 << 14,
  MEM_WINDOW: 1 << 17,
  UD_IP_CSUM: 1 << 18,
  XRC: 1 << 20,
  MEM_MGT_EXTENSIONS: 1 << 21,
  MEM_WINDOW_TYPE_2A: 1 << 23,
  MEM_WINDOW_TYPE_2B: 1 << 24,
  RC_IP_CSUM: 1 << 25,
  RAW_IP_CSUM: 1 << 26,
  MANAGED_FLOW_STEERING: 1 << 29,
} as const;

/** `enum ibv_event_type`, those that libibverbs 44 knows. */
export const EventType = {
  CQ_ERR: 0,
  QP_FATAL: 1,
  QP_REQ_ERR: 2,
  QP_ACCESS_ERR: 3,
  COMM_EST: 4,
  SQ_DRAINED: 5,
  PATH_MIG: 6,
  PATH_MIG_ERR: 7,
  DEVICE_FATAL: 8,
  PORT_ACTIVE: 9,
  PORT_ERR: 10,
  LID_CHANGE: 11,
  PKEY_CHANGE: 12,
  SM_CHANGE: 13,
  SRQ_ERR: 14,
  SRQ_LIMIT_REACHED: 15,
  QP_LAST_WQE_REACHED: 16,
  CLIENT_REREGISTER: 17,
  GID_CHANGE: 18,
  WQ_FATAL: 19,
} as const;
