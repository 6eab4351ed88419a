import { members, type Members } from './members.js';

enum WcStatusValue {
  /** `IBV_WC_SUCCESS`: done. */
  SUCCESS = 0,
  /**
   * `IBV_WC_LOC_LEN_ERR`: a message did not fit: it is larger than the buffers of the receive request (UD: payload and
   * 40 bytes), or, when sending, than the path MTU of a datagram or the port's largest message.
   */
  LOC_LEN_ERR = 1,
  /**
   * `IBV_WC_LOC_QP_OP_ERR`: the device could not carry out the request as it stands, for instance its opcode on this
   * QP.
   */
  LOC_QP_OP_ERR = 2,
  /** `IBV_WC_LOC_EEC_OP_ERR`: of reliable datagrams, which no device has. */
  LOC_EEC_OP_ERR = 3,
  /**
   * `IBV_WC_LOC_PROT_ERR`: an element of the request is not in a valid region of the same protection domain, or the
   * region lacks LOCAL_WRITE and the request writes to it.
   */
  LOC_PROT_ERR = 4,
  /**
   * `IBV_WC_WR_FLUSH_ERR`: not carried out, because the queue pair is in ERR. The first failed completion has the
   * cause, unless the program moved it there.
   */
  WR_FLUSH_ERR = 5,
  /** `IBV_WC_MW_BIND_ERR`: a window was not bound: the region lacks MW_BIND, or the range or the rights exceed it. */
  MW_BIND_ERR = 6,
  /** `IBV_WC_BAD_RESP_ERR`: the peer's response does not fit the request. */
  BAD_RESP_ERR = 7,
  /**
   * `IBV_WC_LOC_ACCESS_ERR`: a receive failed: a protection error of this side while the peer's message was taken in.
   */
  LOC_ACCESS_ERR = 8,
  /**
   * `IBV_WC_REM_INV_REQ_ERR`: the peer's NAK says that the request is invalid: an operation that its queue pair does
   * not allow, or a message larger than its receive buffer.
   */
  REM_INV_REQ_ERR = 9,
  /**
   * `IBV_WC_REM_ACCESS_ERR`: the peer's memory denied it: wrong rkey, range outside the region, or a missing REMOTE_…
   * right.
   */
  REM_ACCESS_ERR = 10,
  /** `IBV_WC_REM_OP_ERR`: the peer failed on its own side, for instance its receive request had a protection error. */
  REM_OP_ERR = 11,
  /**
   * `IBV_WC_RETRY_EXC_ERR`: no acknowledgement in `retryCnt` + 1 tries of `timeout` each: the peer is gone, its queue
   * pair is not in RTR, or GID, queue pair number or PSN of one side are wrong.
   */
  RETRY_EXC_ERR = 12,
  /**
   * `IBV_WC_RNR_RETRY_EXC_ERR`: the peer had no receive request for as long as `rnrRetry` allowed: post receives
   * earlier, raise `rnrRetry` (7 waits forever), or raise the peer's `minRnrTimer`.
   */
  RNR_RETRY_EXC_ERR = 13,
  /** `IBV_WC_LOC_RDD_VIOL_ERR`: of reliable datagrams, which no device has. */
  LOC_RDD_VIOL_ERR = 14,
  /** `IBV_WC_REM_INV_RD_REQ_ERR`: of reliable datagrams, which no device has. */
  REM_INV_RD_REQ_ERR = 15,
  /** `IBV_WC_REM_ABORT_ERR`: the other side gave the operation up. */
  REM_ABORT_ERR = 16,
  /** `IBV_WC_INV_EECN_ERR`: of reliable datagrams, which no device has. */
  INV_EECN_ERR = 17,
  /** `IBV_WC_INV_EEC_STATE_ERR`: of reliable datagrams, which no device has. */
  INV_EEC_STATE_ERR = 18,
  /** `IBV_WC_FATAL_ERR`: the transport failed beyond repair, or the device did. */
  FATAL_ERR = 19,
  /** `IBV_WC_RESP_TIMEOUT_ERR`: the response to a request did not arrive in time. */
  RESP_TIMEOUT_ERR = 20,
  /** `IBV_WC_GENERAL_ERR`: anything else; `vendorErr` may have details. */
  GENERAL_ERR = 21,
  /** `IBV_WC_TM_ERR`: a tagged buffer was to be removed that a message has taken. */
  TM_ERR = 22,
  /**
   * `IBV_WC_TM_RNDV_INCOMPLETE`: a rendezvous is left to the program: the tagged buffer is too short for its data, and has
   * the headers instead (`wcFlags` has TM_DATA_VALID), or the data could not be read.
   */
  TM_RNDV_INCOMPLETE = 23,
}
/** `enum ibv_wc_status`: how a work request ended. {@link wcStatusText} has the library's own words. */
export const WcStatus: Members<typeof WcStatusValue> = members(WcStatusValue);
/** A value of {@link WcStatus}. A number that comes from C is one as well; another enumeration's value is not. */
export type WcStatus = WcStatusValue;

enum WcOpcodeValue {
  /** `IBV_WC_SEND`: a send, with or without immediate data or invalidation. */
  SEND = 0,
  /** `IBV_WC_RDMA_WRITE`: an RDMA write of this side, with or without immediate data. */
  RDMA_WRITE = 1,
  /** `IBV_WC_RDMA_READ`: the bytes that were read are there. */
  RDMA_READ = 2,
  /** `IBV_WC_COMP_SWAP`: the value of before is there; equal to `compare` means that it was swapped. */
  COMP_SWAP = 3,
  /** `IBV_WC_FETCH_ADD`: the value of before is there. */
  FETCH_ADD = 4,
  /** `IBV_WC_BIND_MW`: a memory window is bound or unbound. */
  BIND_MW = 5,
  /** `IBV_WC_LOCAL_INV`: a key is invalid now. */
  LOCAL_INV = 6,
  /** `IBV_WC_TSO`: a packet was segmented and sent. */
  TSO = 7,
  /** `IBV_WC_FLUSH`: earlier writes have reached the peer's memory. */
  FLUSH = 8,
  /** `IBV_WC_ATOMIC_WRITE`: the peer's eight bytes are written. */
  ATOMIC_WRITE = 9,
  /** `IBV_WC_RECV`: a message came in. */
  RECV = 1 << 7,
  /**
   * `IBV_WC_RECV_RDMA_WITH_IMM`: the peer wrote by RDMA_WRITE_WITH_IMM; `byteLen` is the length; the address is not
   * reported.
   */
  RECV_RDMA_WITH_IMM = (1 << 7) | 1,
  /** `IBV_WC_TM_ADD`: a tagged buffer is in the list. */
  TM_ADD = (1 << 7) | 2,
  /** `IBV_WC_TM_DEL`: a tagged buffer is out of the list. */
  TM_DEL = (1 << 7) | 3,
  /** `IBV_WC_TM_SYNC`: the device knows the count of unexpected messages. */
  TM_SYNC = (1 << 7) | 4,
  /**
   * `IBV_WC_TM_RECV`: a message with a tag: in its tagged buffer if `wcFlags` has TM_MATCH or TM_DATA_VALID, else
   * unexpected, with its header in the buffers of a receive request.
   */
  TM_RECV = (1 << 7) | 5,
  /** `IBV_WC_TM_NO_TAG`: a message without a tag, or the end of a rendezvous, in the buffers of a receive request. */
  TM_NO_TAG = (1 << 7) | 6,
}
/** `enum ibv_wc_opcode`: the completed operation. A receive has the bit of RECV. */
export const WcOpcode: Members<typeof WcOpcodeValue> = members(WcOpcodeValue);
/** A value of {@link WcOpcode}. A number that comes from C is one as well; another enumeration's value is not. */
export type WcOpcode = WcOpcodeValue;

enum WcFlagsValue {
  /** `IBV_WC_GRH`: the first 40 bytes of a UD receive buffer hold the routing header. */
  GRH = 1 << 0,
  /** `IBV_WC_WITH_IMM`: `immData` is valid. */
  WITH_IMM = 1 << 1,
  /** `IBV_WC_IP_CSUM_OK`: the device found the packet's checksums right. */
  IP_CSUM_OK = 1 << 2,
  /** `IBV_WC_WITH_INV`: `invalidatedRkey` is valid. */
  WITH_INV = 1 << 3,
  /** `IBV_WC_TM_SYNC_REQ`: the device waits for the count of unexpected messages: `srq.syncTags`. */
  TM_SYNC_REQ = 1 << 4,
  /** `IBV_WC_TM_MATCH`: a tagged buffer has taken the message. */
  TM_MATCH = 1 << 5,
  /** `IBV_WC_TM_DATA_VALID`: all of the message is in its tagged buffer. */
  TM_DATA_VALID = 1 << 6,
}
/** `enum ibv_wc_flags`: the optional fields of a completion. */
export const WcFlags: Members<typeof WcFlagsValue> = members(WcFlagsValue);
/** Or-ed values of {@link WcFlags}, or 0. A number that comes from C is one as well; another enumeration's value is not. */
export type WcFlags = WcFlagsValue | 0;

enum WcExFlagsValue {
  /** `IBV_WC_EX_WITH_BYTE_LEN`: `wc.byteLen`. */
  BYTE_LEN = 1 << 0,
  /** `IBV_WC_EX_WITH_IMM`: `wc.immData` and `wc.invalidatedRkey`, which are 0 without it. */
  IMM = 1 << 1,
  /** `IBV_WC_EX_WITH_QP_NUM`: `wc.qpNum`. */
  QP_NUM = 1 << 2,
  /** `IBV_WC_EX_WITH_SRC_QP`: `wc.srcQp`. */
  SRC_QP = 1 << 3,
  /** `IBV_WC_EX_WITH_SLID`: `wc.slid`. */
  SLID = 1 << 4,
  /** `IBV_WC_EX_WITH_SL`: `wc.sl`. */
  SL = 1 << 5,
  /** `IBV_WC_EX_WITH_DLID_PATH_BITS`: `wc.dlidPathBits`. */
  DLID_PATH_BITS = 1 << 6,
  /**
   * `IBV_WC_EX_WITH_COMPLETION_TIMESTAMP`: `wc.completionTimestamp`, in ticks of the device's clock (`hcaCoreClock`
   * kHz).
   */
  COMPLETION_TIMESTAMP = 1 << 7,
  /** `IBV_WC_EX_WITH_CVLAN`: the VLAN tag that CVLAN_STRIPPING took out; completions do not have it here. */
  CVLAN = 1 << 8,
  /** `IBV_WC_EX_WITH_FLOW_TAG`: `wc.flowTag`. */
  FLOW_TAG = 1 << 9,
  /** `IBV_WC_EX_WITH_TM_INFO`: `wc.tmInfo`. */
  TM_INFO = 1 << 10,
  /** `IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK`: `wc.completionWallclockNs`, in nanoseconds since 1970. */
  COMPLETION_TIMESTAMP_WALLCLOCK = 1 << 11,
}
/** `enum ibv_create_cq_wc_flags`, to be or-ed: the fields of an extended queue's completions. */
export const WcExFlags: Members<typeof WcExFlagsValue> = members(WcExFlagsValue);
/** Or-ed values of {@link WcExFlags}, or 0. A number that comes from C is one as well; another enumeration's value is not. */
export type WcExFlags = WcExFlagsValue | 0;

enum CreateCqFlagsValue {
  /** `IBV_CREATE_CQ_ATTR_SINGLE_THREADED`: only one thread at a time uses the queue. */
  SINGLE_THREADED = 1 << 0,
  /** `IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN`: the program sees to it that the queue never overflows. */
  IGNORE_OVERRUN = 1 << 1,
}
/** `enum ibv_create_cq_attr_flags`. */
export const CreateCqFlags: Members<typeof CreateCqFlagsValue> = members(CreateCqFlagsValue);
/** Or-ed values of {@link CreateCqFlags}, or 0. A number that comes from C is one as well; another enumeration's value is not. */
export type CreateCqFlags = CreateCqFlagsValue | 0;

enum CompCntrTypeValue {
  /** `IBV_COMP_CNTR_TYPE_WRS`: completed work requests. */
  WRS = 0,
  /** `IBV_COMP_CNTR_TYPE_BYTES`: their bytes. */
  BYTES = 1,
}
/** `enum ibv_comp_cntr_type`: what a completion counter counts. */
export const CompCntrType: Members<typeof CompCntrTypeValue> = members(CompCntrTypeValue);
/** A value of {@link CompCntrType}. A number that comes from C is one as well; another enumeration's value is not. */
export type CompCntrType = CompCntrTypeValue;

enum QpAttachCompCntrOpValue {
  /** `IBV_QP_ATTACH_COMP_CNTR_OP_SEND`: SENDs of the queue pair. */
  SEND = 1 << 0,
  /** `IBV_QP_ATTACH_COMP_CNTR_OP_RECV`: receive requests. */
  RECV = 1 << 1,
  /** `IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_READ`: READs of the queue pair. */
  RDMA_READ = 1 << 2,
  /** `IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ`: READs of the peer. */
  REMOTE_RDMA_READ = 1 << 3,
  /** `IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE`: WRITEs of the queue pair. */
  RDMA_WRITE = 1 << 4,
  /** `IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE`: WRITEs of the peer. */
  REMOTE_RDMA_WRITE = 1 << 5,
}
/** `enum ibv_qp_attach_comp_cntr_op`, to be or-ed: the operations of a queue pair that a completion counter counts. */
export const QpAttachCompCntrOp: Members<typeof QpAttachCompCntrOpValue> = members(QpAttachCompCntrOpValue);
/** Or-ed values of {@link QpAttachCompCntrOp}. A number that comes from C is one as well; another enumeration's value is not. */
export type QpAttachCompCntrOp = QpAttachCompCntrOpValue | 0;
