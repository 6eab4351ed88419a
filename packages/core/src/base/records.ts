// The layouts of native/binding/records.h.
export const HEADER = { BYTES: 16, POSTED: 0, SGE: 4, FIRST: 8, SLOT: 12 } as const;
export const SEND = {
  BYTES: 80,
  WR_ID: 0,
  REMOTE_ADDR: 8,
  COMPARE_ADD: 16,
  SWAP: 24,
  OPCODE: 32,
  SEND_FLAGS: 36,
  IMM_DATA: 40,
  RKEY: 44,
  ADDRESS: 48,
  REMOTE_QPN: 52,
  REMOTE_QKEY: 56,
  NUM_SGE: 60,
  FLAGS: 64,
  REMOTE_SRQN: 68,
  WINDOW: 72,
  REGION: 76,
} as const;
export const RECV = { BYTES: 16, WR_ID: 0, NUM_SGE: 8, FLAGS: 12 } as const;
export const SGE = { BYTES: 16, OFFSET: 0, REGION: 8, LENGTH: 12 } as const;
export const COMPLETION = {
  BYTES: 64,
  WR_ID: 0,
  STATUS: 8,
  OPCODE: 12,
  VENDOR_ERR: 16,
  BYTE_LEN: 20,
  IMM_DATA: 24,
  QP_NUM: 28,
  SRC_QP: 32,
  WC_FLAGS: 36,
  PKEY_INDEX: 40,
  SLID: 42,
  SL: 44,
  DLID_PATH_BITS: 45,
  FLAGS: 46,
  TIMESTAMP: 48,
  WALLCLOCK_NS: 56,
} as const;
/** Flags of a record. */
export const ID_IS_NUMBER = 1;
export const WRITTEN = 2;

/** 2^32: the weight of the upper half of a 64-bit field. */
export const HIGH = 0x1_0000_0000;

export const U32 = 0xffffffff;
export const U24 = 0xffffff;
