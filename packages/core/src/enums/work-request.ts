import { members, type Members } from './members.js';

enum WrOpcodeValue {
  /** `IBV_WR_RDMA_WRITE`: writes into the peer's memory. */
  RDMA_WRITE = 0,
  /** `IBV_WR_RDMA_WRITE_WITH_IMM`: the same, and completes a receive request of the peer with 32 bits. */
  RDMA_WRITE_WITH_IMM = 1,
  /** `IBV_WR_SEND`: a message for the peer's next receive request. */
  SEND = 2,
  /** `IBV_WR_SEND_WITH_IMM`: the same with 32 bits of immediate data. */
  SEND_WITH_IMM = 3,
  /** `IBV_WR_RDMA_READ`: reads out of the peer's memory. */
  RDMA_READ = 4,
  /** `IBV_WR_ATOMIC_CMP_AND_SWP`: compares 8 bytes of the peer's memory, and replaces them if equal. */
  ATOMIC_CMP_AND_SWP = 5,
  /** `IBV_WR_ATOMIC_FETCH_AND_ADD`: adds to 8 bytes of the peer's memory. */
  ATOMIC_FETCH_AND_ADD = 6,
  /** `IBV_WR_LOCAL_INV`: invalidates a key of this side. */
  LOCAL_INV = 7,
  /** `IBV_WR_BIND_MW`: binds a memory window of type 2. */
  BIND_MW = 8,
  /** `IBV_WR_SEND_WITH_INV`: a message that also invalidates a key of the receiver. */
  SEND_WITH_INV = 9,
  /** `IBV_WR_FLUSH`: waits until earlier writes have reached the peer's memory. */
  FLUSH = 14,
  /** `IBV_WR_ATOMIC_WRITE`: eight bytes at once, without a tear. */
  ATOMIC_WRITE = 15,
}
/** `enum ibv_wr_opcode`: the operations of send requests, as far as `qp.postSend` supports them. */
export const WrOpcode: Members<typeof WrOpcodeValue> = members(WrOpcodeValue);
/** A value of {@link WrOpcode}. A number that comes from C is one as well; another enumeration's value is not. */
export type WrOpcode = WrOpcodeValue;

enum SendFlagsValue {
  /** `IBV_SEND_FENCE`: starts when all earlier reads and atomics of the queue are done. RC. */
  FENCE = 1 << 0,
  /**
   * `IBV_SEND_SIGNALED`: success is reported by a completion. Without it only failure is, unless the QP has sqSigAll.
   */
  SIGNALED = 1 << 1,
  /** `IBV_SEND_SOLICITED`: wakes a receiver that asked for solicited completions only (`cq.reqNotify(true)`). */
  SOLICITED = 1 << 2,
  /** `IBV_SEND_INLINE`: the bytes are copied while posting (up to maxInlineData), the buffer is free at once. */
  INLINE = 1 << 3,
  /** `IBV_SEND_IP_CSUM`: the device fills in the IPv4 and the TCP or UDP checksum. */
  IP_CSUM = 1 << 4,
}
/** `enum ibv_send_flags`, to be or-ed. */
export const SendFlags: Members<typeof SendFlagsValue> = members(SendFlagsValue);
/** Or-ed values of {@link SendFlags}, or 0. A number that comes from C is one as well; another enumeration's value is not. */
export type SendFlags = SendFlagsValue | 0;

enum SendOpsFlagsValue {
  /** `IBV_QP_EX_WITH_RDMA_WRITE`: WrOpcode.RDMA_WRITE. */
  RDMA_WRITE = 1 << 0,
  /** `IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM`: WrOpcode.RDMA_WRITE_WITH_IMM. */
  RDMA_WRITE_WITH_IMM = 1 << 1,
  /** `IBV_QP_EX_WITH_SEND`: WrOpcode.SEND. */
  SEND = 1 << 2,
  /** `IBV_QP_EX_WITH_SEND_WITH_IMM`: WrOpcode.SEND_WITH_IMM. */
  SEND_WITH_IMM = 1 << 3,
  /** `IBV_QP_EX_WITH_RDMA_READ`: WrOpcode.RDMA_READ. */
  RDMA_READ = 1 << 4,
  /** `IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP`: WrOpcode.ATOMIC_CMP_AND_SWP. */
  ATOMIC_CMP_AND_SWP = 1 << 5,
  /** `IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD`: WrOpcode.ATOMIC_FETCH_AND_ADD. */
  ATOMIC_FETCH_AND_ADD = 1 << 6,
  /** `IBV_QP_EX_WITH_LOCAL_INV`: WrOpcode.LOCAL_INV. */
  LOCAL_INV = 1 << 7,
  /** `IBV_QP_EX_WITH_BIND_MW`: WrOpcode.BIND_MW. */
  BIND_MW = 1 << 8,
  /** `IBV_QP_EX_WITH_SEND_WITH_INV`: WrOpcode.SEND_WITH_INV. */
  SEND_WITH_INV = 1 << 9,
  /** `IBV_QP_EX_WITH_TSO`: segmentation of large TCP packets; `postSend` has no such request. */
  TSO = 1 << 10,
  /** `IBV_QP_EX_WITH_FLUSH`: WrOpcode.FLUSH. */
  FLUSH = 1 << 11,
  /** `IBV_QP_EX_WITH_ATOMIC_WRITE`: WrOpcode.ATOMIC_WRITE. */
  ATOMIC_WRITE = 1 << 12,
}
/** `enum ibv_qp_create_send_ops_flags`, to be or-ed: the operations that `ibv_wr_*` shall build. */
export const SendOpsFlags: Members<typeof SendOpsFlagsValue> = members(SendOpsFlagsValue);
/** Or-ed values of {@link SendOpsFlags}, or 0. A number that comes from C is one as well; another enumeration's value is not. */
export type SendOpsFlags = SendOpsFlagsValue | 0;

enum PlacementTypeValue {
  /** `IBV_FLUSH_GLOBAL`: everybody at the peer sees the data. Needs AccessFlags.FLUSH_GLOBAL. */
  GLOBAL = 1 << 0,
  /** `IBV_FLUSH_PERSISTENT`: the data survives a loss of power. Needs AccessFlags.FLUSH_PERSISTENT. */
  PERSISTENT = 1 << 1,
}
/** `enum ibv_placement_type`, to be or-ed: what WrOpcode.FLUSH waits for. */
export const PlacementType: Members<typeof PlacementTypeValue> = members(PlacementTypeValue);
/** Or-ed values of {@link PlacementType}. A number that comes from C is one as well; another enumeration's value is not. */
export type PlacementType = PlacementTypeValue;

enum SelectivityLevelValue {
  /** `IBV_FLUSH_RANGE`: the bytes that the request names. */
  RANGE = 0,
  /** `IBV_FLUSH_MR`: the whole region of the rkey. */
  MR = 1,
}
/** `enum ibv_selectivity_level`: how much WrOpcode.FLUSH is about. */
export const SelectivityLevel: Members<typeof SelectivityLevelValue> = members(SelectivityLevelValue);
/** A value of {@link SelectivityLevel}. A number that comes from C is one as well; another enumeration's value is not. */
export type SelectivityLevel = SelectivityLevelValue;
