import { members, type Members } from './members.js';

enum SrqTypeValue {
  /** `IBV_SRQT_BASIC`: queue pairs that name it in `srq`. */
  BASIC = 0,
  /** `IBV_SRQT_XRC`: the XRC_RECV queue pairs of its XRC domain. */
  XRC = 1,
  /** `IBV_SRQT_TM`: tag matching: RC queue pairs that name it in `srq`, without send requests. */
  TM = 2,
}
/** `enum ibv_srq_type`: the queue pairs that may use a shared receive queue. */
export const SrqType: Members<typeof SrqTypeValue> = members(SrqTypeValue);
/** A value of {@link SrqType}. A number that comes from C is one as well; another enumeration's value is not. */
export type SrqType = SrqTypeValue;

enum TmhOpValue {
  /** `IBV_TMH_NO_TAG`: a message without a tag; the rest of the header may be missing. */
  NO_TAG = 0,
  /** `IBV_TMH_RNDV`: a rendezvous: the message says where its data is. */
  RNDV = 1,
  /** `IBV_TMH_FIN`: the data of a rendezvous was read. */
  FIN = 2,
  /** `IBV_TMH_EAGER`: a message with its data behind the header. */
  EAGER = 3,
}
/** `enum ibv_tmh_op`: what the header of tag matching begins with. */
export const TmhOp: Members<typeof TmhOpValue> = members(TmhOpValue);
/** A value of {@link TmhOp}. A number that comes from C is one as well; another enumeration's value is not. */
export type TmhOp = TmhOpValue;

enum WqTypeValue {
  /** `IBV_WQT_RQ`: a receive queue, the only kind there is. */
  RQ = 0,
}
/** `enum ibv_wq_type`. */
export const WqType: Members<typeof WqTypeValue> = members(WqTypeValue);
/** A value of {@link WqType}. A number that comes from C is one as well; another enumeration's value is not. */
export type WqType = WqTypeValue;

enum WqStateValue {
  /** `IBV_WQS_RESET`: new, or emptied. */
  RESET = 0,
  /** `IBV_WQS_RDY`: works. */
  RDY = 1,
  /** `IBV_WQS_ERR`: posted requests complete with WR_FLUSH_ERR. */
  ERR = 2,
  /** `IBV_WQS_UNKNOWN`: the device does not report it. */
  UNKNOWN = 3,
}
/** `enum ibv_wq_state`: a receive work queue goes from RESET to RDY before it takes packets. */
export const WqState: Members<typeof WqStateValue> = members(WqStateValue);
/** A value of {@link WqState}. A number that comes from C is one as well; another enumeration's value is not. */
export type WqState = WqStateValue;

enum WqFlagsValue {
  /** `IBV_WQ_FLAGS_CVLAN_STRIPPING`: the VLAN tag is taken out of received frames. */
  CVLAN_STRIPPING = 1 << 0,
  /** `IBV_WQ_FLAGS_SCATTER_FCS`: the frame's checksum (4 bytes) is received, too. */
  SCATTER_FCS = 1 << 1,
  /** `IBV_WQ_FLAGS_DELAY_DROP`: packets wait for a while for a receive request instead of being dropped. */
  DELAY_DROP = 1 << 2,
  /** `IBV_WQ_FLAGS_PCI_WRITE_END_PADDING`: the device pads its writes to whole cache lines. */
  PCI_WRITE_END_PADDING = 1 << 3,
}
/** `enum ibv_wq_flags`, to be or-ed. */
export const WqFlags: Members<typeof WqFlagsValue> = members(WqFlagsValue);
/** Or-ed values of {@link WqFlags}, or 0. A number that comes from C is one as well; another enumeration's value is not. */
export type WqFlags = WqFlagsValue | 0;

enum RxHashFunctionValue {
  /** `IBV_RX_HASH_FUNC_TOEPLITZ`: Toeplitz, with a key of 40 bytes. */
  TOEPLITZ = 1,
}
/** `enum ibv_rx_hash_function_flags`: how receive side scaling makes a number of a packet. */
export const RxHashFunction: Members<typeof RxHashFunctionValue> = members(RxHashFunctionValue);
/** Or-ed values of {@link RxHashFunction}, or 0. A number that comes from C is one as well; another enumeration's value is not. */
export type RxHashFunction = RxHashFunctionValue | 0;

enum RxHashFieldsValue {
  /** `IBV_RX_HASH_SRC_IPV4`: the source address of IPv4. */
  SRC_IPV4 = 1 << 0,
  /** `IBV_RX_HASH_DST_IPV4`: the destination address of IPv4. */
  DST_IPV4 = 1 << 1,
  /** `IBV_RX_HASH_SRC_IPV6`: the source address of IPv6. */
  SRC_IPV6 = 1 << 2,
  /** `IBV_RX_HASH_DST_IPV6`: the destination address of IPv6. */
  DST_IPV6 = 1 << 3,
  /** `IBV_RX_HASH_SRC_PORT_TCP`: the source port of TCP. */
  SRC_PORT_TCP = 1 << 4,
  /** `IBV_RX_HASH_DST_PORT_TCP`: the destination port of TCP. */
  DST_PORT_TCP = 1 << 5,
  /** `IBV_RX_HASH_SRC_PORT_UDP`: the source port of UDP. */
  SRC_PORT_UDP = 1 << 6,
  /** `IBV_RX_HASH_DST_PORT_UDP`: the destination port of UDP. */
  DST_PORT_UDP = 1 << 7,
  /** `IBV_RX_HASH_IPSEC_SPI`: the security parameters index of ESP. */
  IPSEC_SPI = 1 << 8,
}
/** `enum ibv_rx_hash_fields`, to be or-ed: the fields of a packet that go into the hash. */
export const RxHashFields: Members<typeof RxHashFieldsValue> = members(RxHashFieldsValue);
/** Or-ed values of {@link RxHashFields}, or 0. A number that comes from C is one as well; another enumeration's value is not. */
export type RxHashFields = RxHashFieldsValue | 0;
