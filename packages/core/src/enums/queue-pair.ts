import { members, type Members } from './members.js';

enum QpTypeValue {
  /** `IBV_QPT_RC`, reliable connected: one peer; messages arrive once and in order; all operations. */
  RC = 2,
  /** `IBV_QPT_UC`, unreliable connected: one peer; lost messages stay lost; sends and RDMA writes only. */
  UC = 3,
  /** `IBV_QPT_UD`, unreliable datagram: any peer and multicast groups; sends of at most one MTU. */
  UD = 4,
  /** `IBV_QPT_RAW_PACKET`: whole Ethernet frames; needs CAP_NET_RAW, and a flow to receive anything. */
  RAW_PACKET = 8,
  /** `IBV_QPT_XRC_SEND`: the sending side of XRC; each request names a shared receive queue of the peer. */
  XRC_SEND = 9,
  /** `IBV_QPT_XRC_RECV`: the receiving side of XRC; has no queues of its own and belongs to an XRC domain. */
  XRC_RECV = 10,
  /** `IBV_QPT_DRIVER`: a vendor's own transport. */
  DRIVER = 0xff,
}
/** `enum ibv_qp_type`: which transport a queue pair has. */
export const QpType: Members<typeof QpTypeValue> = members(QpTypeValue);
/** A value of {@link QpType}. A number that comes from C is one as well; another enumeration's value is not. */
export type QpType = QpTypeValue;

enum QpStateValue {
  /** `IBV_QPS_RESET`: new, or emptied: requests of before are gone without a completion. */
  RESET = 0,
  /** `IBV_QPS_INIT`: takes receive requests, neither receives nor sends. */
  INIT = 1,
  /** `IBV_QPS_RTR`, ready to receive: knows its peer, serves it, does not send yet. */
  RTR = 2,
  /** `IBV_QPS_RTS`, ready to send: works in full. */
  RTS = 3,
  /**
   * `IBV_QPS_SQD`, send queue drained: starts no further send request; the event SQ_DRAINED comes when all of them have
   * ended.
   */
  SQD = 4,
  /**
   * `IBV_QPS_SQE`, send queue error: a send of a UC, UD or RAW_PACKET queue pair failed; receives go on. RTS repairs
   * it.
   */
  SQE = 5,
  /** `IBV_QPS_ERR`: posted requests complete with WR_FLUSH_ERR. Only RESET leads out of it. */
  ERR = 6,
  /** `IBV_QPS_UNKNOWN`: the device does not report it. */
  UNKNOWN = 7,
}
/** `enum ibv_qp_state`: RESET, INIT, RTR, RTS in this order make a queue pair ready. */
export const QpState: Members<typeof QpStateValue> = members(QpStateValue);
/** A value of {@link QpState}. A number that comes from C is one as well; another enumeration's value is not. */
export type QpState = QpStateValue;

enum QpAttrMaskValue {
  /** `IBV_QP_STATE`: {@link QpAttr.qpState}. */
  STATE = 1 << 0,
  /** `IBV_QP_CUR_STATE`: {@link QpAttr.curQpState}. */
  CUR_STATE = 1 << 1,
  /** `IBV_QP_EN_SQD_ASYNC_NOTIFY`: {@link QpAttr.enSqdAsyncNotify}. */
  EN_SQD_ASYNC_NOTIFY = 1 << 2,
  /** `IBV_QP_ACCESS_FLAGS`: {@link QpAttr.qpAccessFlags}. */
  ACCESS_FLAGS = 1 << 3,
  /** `IBV_QP_PKEY_INDEX`: {@link QpAttr.pkeyIndex}. */
  PKEY_INDEX = 1 << 4,
  /** `IBV_QP_PORT`: {@link QpAttr.portNum}. */
  PORT = 1 << 5,
  /** `IBV_QP_QKEY`: {@link QpAttr.qkey}. */
  QKEY = 1 << 6,
  /** `IBV_QP_AV`: {@link QpAttr.ahAttr}. */
  AV = 1 << 7,
  /** `IBV_QP_PATH_MTU`: {@link QpAttr.pathMtu}. */
  PATH_MTU = 1 << 8,
  /** `IBV_QP_TIMEOUT`: {@link QpAttr.timeout}. */
  TIMEOUT = 1 << 9,
  /** `IBV_QP_RETRY_CNT`: {@link QpAttr.retryCnt}. */
  RETRY_CNT = 1 << 10,
  /** `IBV_QP_RNR_RETRY`: {@link QpAttr.rnrRetry}. */
  RNR_RETRY = 1 << 11,
  /** `IBV_QP_RQ_PSN`: {@link QpAttr.rqPsn}. */
  RQ_PSN = 1 << 12,
  /** `IBV_QP_MAX_QP_RD_ATOMIC`: {@link QpAttr.maxRdAtomic}. */
  MAX_QP_RD_ATOMIC = 1 << 13,
  /** `IBV_QP_ALT_PATH`: {@link QpAttr.altAhAttr} and the other three `alt…` fields. */
  ALT_PATH = 1 << 14,
  /** `IBV_QP_MIN_RNR_TIMER`: {@link QpAttr.minRnrTimer}. */
  MIN_RNR_TIMER = 1 << 15,
  /** `IBV_QP_SQ_PSN`: {@link QpAttr.sqPsn}. */
  SQ_PSN = 1 << 16,
  /** `IBV_QP_MAX_DEST_RD_ATOMIC`: {@link QpAttr.maxDestRdAtomic}. */
  MAX_DEST_RD_ATOMIC = 1 << 17,
  /** `IBV_QP_PATH_MIG_STATE`: {@link QpAttr.pathMigState}. */
  PATH_MIG_STATE = 1 << 18,
  /** `IBV_QP_CAP`: {@link QpAttr.cap}. */
  CAP = 1 << 19,
  /** `IBV_QP_DEST_QPN`: {@link QpAttr.destQpNum}. */
  DEST_QPN = 1 << 20,
  /** `IBV_QP_RATE_LIMIT`: {@link QpAttr.rateLimit}. */
  RATE_LIMIT = 1 << 25,
}
/** `enum ibv_qp_attr_mask`, for `qp.query(mask)`; `qp.modify` finds its mask by itself. */
export const QpAttrMask: Members<typeof QpAttrMaskValue> = members(QpAttrMaskValue);
/** Or-ed values of {@link QpAttrMask}, or 0. A number that comes from C is one as well; another enumeration's value is not. */
export type QpAttrMask = QpAttrMaskValue | 0;

enum MigStateValue {
  /** `IBV_MIG_MIGRATED`: it uses the path that `ahAttr` names, and has no other. The state of a new one. */
  MIGRATED = 0,
  /** `IBV_MIG_REARM`: set it to ask both sides to agree on the alternate path. */
  REARM = 1,
  /** `IBV_MIG_ARMED`: the device changes to the alternate path when the first one fails (event PATH_MIG). */
  ARMED = 2,
}
/** `enum ibv_mig_state`: where a queue pair with an alternate path stands. */
export const MigState: Members<typeof MigStateValue> = members(MigStateValue);
/** A value of {@link MigState}. A number that comes from C is one as well; another enumeration's value is not. */
export type MigState = MigStateValue;

enum MtuValue {
  /** `IBV_MTU_256`. */
  MTU_256 = 1,
  /** `IBV_MTU_512`. */
  MTU_512 = 2,
  /** `IBV_MTU_1024`: the largest that fits Ethernet frames of 1500 bytes. */
  MTU_1024 = 3,
  /** `IBV_MTU_2048`. */
  MTU_2048 = 4,
  /** `IBV_MTU_4096`: the largest; on RoCE it needs jumbo frames. */
  MTU_4096 = 5,
}
/** `enum ibv_mtu`: the code of a size in bytes, of a packet's payload. */
export const Mtu: Members<typeof MtuValue> = members(MtuValue);
/** A value of {@link Mtu}. A number that comes from C is one as well; another enumeration's value is not. */
export type Mtu = MtuValue;

enum QpCreateFlagsValue {
  /** `IBV_QP_CREATE_BLOCK_SELF_MCAST_LB`: multicast that it sends does not come back to it. */
  BLOCK_SELF_MCAST_LB = 1 << 1,
  /** `IBV_QP_CREATE_SCATTER_FCS`: the frame's checksum (4 bytes) is received, too. RAW_PACKET. */
  SCATTER_FCS = 1 << 8,
  /** `IBV_QP_CREATE_CVLAN_STRIPPING`: the VLAN tag is taken out of received frames. RAW_PACKET. */
  CVLAN_STRIPPING = 1 << 9,
  /** `IBV_QP_CREATE_SOURCE_QPN`: packets carry {@link QpInitAttr.sourceQpn} as their sender. UD. */
  SOURCE_QPN = 1 << 10,
  /** `IBV_QP_CREATE_PCI_WRITE_END_PADDING`: the device pads its writes to whole cache lines. */
  PCI_WRITE_END_PADDING = 1 << 11,
}
/** `enum ibv_qp_create_flags`, to be or-ed. */
export const QpCreateFlags: Members<typeof QpCreateFlagsValue> = members(QpCreateFlagsValue);
/** Or-ed values of {@link QpCreateFlags}, or 0. A number that comes from C is one as well; another enumeration's value is not. */
export type QpCreateFlags = QpCreateFlagsValue | 0;
