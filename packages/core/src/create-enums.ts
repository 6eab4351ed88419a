/** `enum ibv_srq_type`. */
export const SrqType = { BASIC: 0, XRC: 1, TM: 2 } as const;
export type SrqType = (typeof SrqType)[keyof typeof SrqType];

/** `enum ibv_mw_type`: type 1 is bound by `qp.bindMw`, type 2 by a BIND_MW request. */
export const MwType = { TYPE_1: 1, TYPE_2: 2 } as const;
export type MwType = (typeof MwType)[keyof typeof MwType];

/** `enum ibv_create_cq_wc_flags`, to be or-ed: what the completions of an extended queue tell. */
export const WcExFlags = {
  BYTE_LEN: 1 << 0,
  IMM: 1 << 1,
  QP_NUM: 1 << 2,
  SRC_QP: 1 << 3,
  SLID: 1 << 4,
  SL: 1 << 5,
  DLID_PATH_BITS: 1 << 6,
  /** `wc.completionTimestamp`, in ticks of the device's clock (`hcaCoreClock` kHz). */
  COMPLETION_TIMESTAMP: 1 << 7,
  CVLAN: 1 << 8,
  FLOW_TAG: 1 << 9,
  TM_INFO: 1 << 10,
  /** `wc.completionWallclockNs`, in nanoseconds since 1970. */
  COMPLETION_TIMESTAMP_WALLCLOCK: 1 << 11,
} as const;

/** `enum ibv_create_cq_attr_flags`. */
export const CreateCqFlags = {
  /** Only one thread at a time uses the queue. */
  SINGLE_THREADED: 1 << 0,
  /** The program sees to it that the queue never overflows. */
  IGNORE_OVERRUN: 1 << 1,
} as const;

/** `enum ibv_qp_create_flags`, to be or-ed. */
export const QpCreateFlags = {
  BLOCK_SELF_MCAST_LB: 1 << 1,
  SCATTER_FCS: 1 << 8,
  CVLAN_STRIPPING: 1 << 9,
  SOURCE_QPN: 1 << 10,
  PCI_WRITE_END_PADDING: 1 << 11,
} as const;

/** `enum ibv_qp_create_send_ops_flags` (IBV_QP_EX_WITH_*), to be or-ed: the operations that `ibv_wr_*` shall build. */
export const SendOpsFlags = {
  RDMA_WRITE: 1 << 0,
  RDMA_WRITE_WITH_IMM: 1 << 1,
  SEND: 1 << 2,
  SEND_WITH_IMM: 1 << 3,
  RDMA_READ: 1 << 4,
  ATOMIC_CMP_AND_SWP: 1 << 5,
  ATOMIC_FETCH_AND_ADD: 1 << 6,
  LOCAL_INV: 1 << 7,
  BIND_MW: 1 << 8,
  SEND_WITH_INV: 1 << 9,
  TSO: 1 << 10,
  ATOMIC_WRITE: 1 << 12,
} as const;

/** `enum ibv_wq_type`. */
export const WqType = { RQ: 0 } as const;

/** `enum ibv_wq_state`. */
export const WqState = { RESET: 0, RDY: 1, ERR: 2, UNKNOWN: 3 } as const;

/** `enum ibv_wq_flags`. */
export const WqFlags = {
  CVLAN_STRIPPING: 1 << 0,
  SCATTER_FCS: 1 << 1,
  DELAY_DROP: 1 << 2,
  PCI_WRITE_END_PADDING: 1 << 3,
} as const;

/** `enum ibv_rx_hash_function_flags`. */
export const RxHashFunction = { TOEPLITZ: 1 } as const;

/** `enum ibv_rx_hash_fields`, to be or-ed. */
export const RxHashFields = {
  SRC_IPV4: 1 << 0,
  DST_IPV4: 1 << 1,
  SRC_IPV6: 1 << 2,
  DST_IPV6: 1 << 3,
  SRC_PORT_TCP: 1 << 4,
  DST_PORT_TCP: 1 << 5,
  SRC_PORT_UDP: 1 << 6,
  DST_PORT_UDP: 1 << 7,
  IPSEC_SPI: 1 << 8,
} as const;

/** `enum ibv_advise_mr_advice`. */
export const MrAdvice = { PREFETCH: 0, PREFETCH_WRITE: 1, PREFETCH_NO_FAULT: 2 } as const;

/** Whether `pd.adviseMr` waits until it is done. */
export const MrAdviceFlags = { FLUSH: 1 } as const;

/** `enum ibv_counter_description`. */
export const CounterDescription = { PACKETS: 0, BYTES: 1 } as const;

/** `enum ibv_read_counters_flags`. */
export const ReadCountersFlags = { ATTR_PREFER_CACHED: 1 } as const;

/** `enum ibv_flow_attr_type`. */
export const FlowAttrType = { NORMAL: 0, ALL_DEFAULT: 1, MC_DEFAULT: 2, SNIFFER: 3 } as const;

/** `enum ibv_flow_flags`. */
export const FlowFlags = { DONT_TRAP: 1 << 1, EGRESS: 1 << 2 } as const;

/** `enum ibv_fork_status`. */
export const ForkStatus = { DISABLED: 0, ENABLED: 1, UNNEEDED: 2 } as const;
