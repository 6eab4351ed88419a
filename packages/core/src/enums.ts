/** Permissions of a memory region or queue pair (`enum ibv_access_flags`), to be or-ed. Local reading is always allowed. */
export const AccessFlags = {
  LOCAL_WRITE: 1,
  /** Needs LOCAL_WRITE. */
  REMOTE_WRITE: 1 << 1,
  REMOTE_READ: 1 << 2,
  /** Needs LOCAL_WRITE. */
  REMOTE_ATOMIC: 1 << 3,
  MW_BIND: 1 << 4,
  ZERO_BASED: 1 << 5,
  ON_DEMAND: 1 << 6,
  HUGETLB: 1 << 7,
  RELAXED_ORDERING: 1 << 20,
} as const;

/** `enum ibv_qp_type`. */
export const QpType = { RC: 2, UC: 3, UD: 4, RAW_PACKET: 8, XRC_SEND: 9, XRC_RECV: 10, DRIVER: 0xff } as const;
export type QpType = (typeof QpType)[keyof typeof QpType];

/** `enum ibv_qp_state`. */
export const QpState = { RESET: 0, INIT: 1, RTR: 2, RTS: 3, SQD: 4, SQE: 5, ERR: 6, UNKNOWN: 7 } as const;
export type QpState = (typeof QpState)[keyof typeof QpState];

/** `enum ibv_qp_attr_mask`, for `qp.query(mask)`; `qp.modify` finds its mask by itself. */
export const QpAttrMask = {
  STATE: 1 << 0,
  CUR_STATE: 1 << 1,
  EN_SQD_ASYNC_NOTIFY: 1 << 2,
  ACCESS_FLAGS: 1 << 3,
  PKEY_INDEX: 1 << 4,
  PORT: 1 << 5,
  QKEY: 1 << 6,
  AV: 1 << 7,
  PATH_MTU: 1 << 8,
  TIMEOUT: 1 << 9,
  RETRY_CNT: 1 << 10,
  RNR_RETRY: 1 << 11,
  RQ_PSN: 1 << 12,
  MAX_QP_RD_ATOMIC: 1 << 13,
  ALT_PATH: 1 << 14,
  MIN_RNR_TIMER: 1 << 15,
  SQ_PSN: 1 << 16,
  MAX_DEST_RD_ATOMIC: 1 << 17,
  PATH_MIG_STATE: 1 << 18,
  CAP: 1 << 19,
  DEST_QPN: 1 << 20,
  RATE_LIMIT: 1 << 25,
} as const;

/** `enum ibv_mig_state`. */
export const MigState = { MIGRATED: 0, REARM: 1, ARMED: 2 } as const;

/** `enum ibv_mtu`: the code of a size in bytes. */
export const Mtu = { MTU_256: 1, MTU_512: 2, MTU_1024: 3, MTU_2048: 4, MTU_4096: 5 } as const;

/** `enum ibv_wr_opcode`, those that `qp.postSend` carries. */
export const WrOpcode = {
  RDMA_WRITE: 0,
  RDMA_WRITE_WITH_IMM: 1,
  SEND: 2,
  SEND_WITH_IMM: 3,
  RDMA_READ: 4,
  ATOMIC_CMP_AND_SWP: 5,
  ATOMIC_FETCH_AND_ADD: 6,
  LOCAL_INV: 7,
  /** Memory windows of type 2. */
  BIND_MW: 8,
  SEND_WITH_INV: 9,
  /** Eight bytes at once, without a tear. */
  ATOMIC_WRITE: 15,
} as const;
export type WrOpcode = (typeof WrOpcode)[keyof typeof WrOpcode];

/** `enum ibv_send_flags`, to be or-ed. */
export const SendFlags = {
  FENCE: 1 << 0,
  SIGNALED: 1 << 1,
  SOLICITED: 1 << 2,
  INLINE: 1 << 3,
  IP_CSUM: 1 << 4,
} as const;

/** `enum ibv_wc_status`. */
export const WcStatus = {
  SUCCESS: 0,
  LOC_LEN_ERR: 1,
  LOC_QP_OP_ERR: 2,
  LOC_EEC_OP_ERR: 3,
  LOC_PROT_ERR: 4,
  WR_FLUSH_ERR: 5,
  MW_BIND_ERR: 6,
  BAD_RESP_ERR: 7,
  LOC_ACCESS_ERR: 8,
  REM_INV_REQ_ERR: 9,
  REM_ACCESS_ERR: 10,
  REM_OP_ERR: 11,
  RETRY_EXC_ERR: 12,
  RNR_RETRY_EXC_ERR: 13,
  LOC_RDD_VIOL_ERR: 14,
  REM_INV_RD_REQ_ERR: 15,
  REM_ABORT_ERR: 16,
  INV_EECN_ERR: 17,
  INV_EEC_STATE_ERR: 18,
  FATAL_ERR: 19,
  RESP_TIMEOUT_ERR: 20,
  GENERAL_ERR: 21,
  TM_ERR: 22,
  TM_RNDV_INCOMPLETE: 23,
} as const;

/** `enum ibv_wc_opcode`. A receive has the bit of RECV. */
export const WcOpcode = {
  SEND: 0,
  RDMA_WRITE: 1,
  RDMA_READ: 2,
  COMP_SWAP: 3,
  FETCH_ADD: 4,
  BIND_MW: 5,
  LOCAL_INV: 6,
  TSO: 7,
  ATOMIC_WRITE: 9,
  RECV: 1 << 7,
  RECV_RDMA_WITH_IMM: (1 << 7) + 1,
} as const;

/** `enum ibv_wc_flags`. */
export const WcFlags = {
  /** The first 40 bytes of a UD receive buffer hold the routing header. */
  GRH: 1 << 0,
  /** `immData` is valid. */
  WITH_IMM: 1 << 1,
  IP_CSUM_OK: 1 << 2,
  /** `invalidatedRkey` is valid. */
  WITH_INV: 1 << 3,
} as const;

/** The name of a value: `enumName(WcStatus, 12)` is 'RETRY_EXC_ERR'; an unknown value gives its number. */
export function enumName(values: Readonly<Record<string, number>>, value: number): string {
  return Object.keys(values).find((name) => values[name] === value) ?? String(value);
}

/** The names of the bits that are set, joined by '|'; 'NONE' for 0. */
export function flagNames(flags: Readonly<Record<string, number>>, value: number): string {
  const names = Object.keys(flags).filter((name) => ((flags[name] ?? 0) & value) !== 0);
  const known = names.reduce((sum, name) => sum | (flags[name] ?? 0), 0);
  if ((value & ~known) !== 0) names.push(`0x${(value & ~known).toString(16)}`);
  return names.length === 0 ? 'NONE' : names.join('|');
}
