import { members, type Members } from '@verbs/core/provider';

enum CmEventTypeValue {
  /** `RDMA_CM_EVENT_ADDR_RESOLVED`: `resolveAddr` succeeded, and the identifier belongs to a device. */
  ADDR_RESOLVED = 0,
  /** `RDMA_CM_EVENT_ADDR_ERROR`: `resolveAddr` failed. */
  ADDR_ERROR = 1,
  /** `RDMA_CM_EVENT_ROUTE_RESOLVED`: `resolveRoute` succeeded. */
  ROUTE_RESOLVED = 2,
  /** `RDMA_CM_EVENT_ROUTE_ERROR`: `resolveRoute` failed. */
  ROUTE_ERROR = 3,
  /** `RDMA_CM_EVENT_CONNECT_REQUEST`: a peer wants to connect; the event has a new identifier for it. */
  CONNECT_REQUEST = 4,
  /** `RDMA_CM_EVENT_CONNECT_RESPONSE`: the peer accepted, and the identifier has no queue pair: `establish` is next. */
  CONNECT_RESPONSE = 5,
  /** `RDMA_CM_EVENT_CONNECT_ERROR`: setting up the connection failed. */
  CONNECT_ERROR = 6,
  /** `RDMA_CM_EVENT_UNREACHABLE`: the peer does not answer. */
  UNREACHABLE = 7,
  /** `RDMA_CM_EVENT_REJECTED`: the peer, or its connection manager, rejected the request; see {@link RejectReason}. */
  REJECTED = 8,
  /** `RDMA_CM_EVENT_ESTABLISHED`: the connection stands, or the datagram service was found. */
  ESTABLISHED = 9,
  /** `RDMA_CM_EVENT_DISCONNECTED`: the connection ended. */
  DISCONNECTED = 10,
  /** `RDMA_CM_EVENT_DEVICE_REMOVAL`: the device is gone: close everything of it. */
  DEVICE_REMOVAL = 11,
  /** `RDMA_CM_EVENT_MULTICAST_JOIN`: `joinMulticast` succeeded. */
  MULTICAST_JOIN = 12,
  /** `RDMA_CM_EVENT_MULTICAST_ERROR`: `joinMulticast` failed, or the membership ended. */
  MULTICAST_ERROR = 13,
  /** `RDMA_CM_EVENT_ADDR_CHANGE`: the network device behind the address changed. */
  ADDR_CHANGE = 14,
  /** `RDMA_CM_EVENT_TIMEWAIT_EXIT`: a queue pair may be connected again. */
  TIMEWAIT_EXIT = 15,
  /** `RDMA_CM_EVENT_ADDRINFO_RESOLVED`: an address was found; `resolveAddrinfo` waits for it. Since release 60. */
  ADDRINFO_RESOLVED = 16,
  /** `RDMA_CM_EVENT_ADDRINFO_ERROR`: none was found. Since release 60. */
  ADDRINFO_ERROR = 17,
  /** `RDMA_CM_EVENT_USER`: what `writeCmEvent` has put there. Since release 60. */
  USER = 18,
}
/** `enum rdma_cm_event_type`: the events of a channel. */
export const CmEventType: Members<typeof CmEventTypeValue> = members(CmEventTypeValue);
/** A value of {@link CmEventType}. A number that comes from C is one as well; another enumeration's value is not. */
export type CmEventType = CmEventTypeValue;

enum PortSpaceValue {
  /** `RDMA_PS_IPOIB`: IP over InfiniBand. */
  IPOIB = 0x0002,
  /** `RDMA_PS_TCP`: reliable connections (RC). */
  TCP = 0x0106,
  /** `RDMA_PS_UDP`: datagrams (UD). */
  UDP = 0x0111,
  /** `RDMA_PS_IB`: any InfiniBand service. */
  IB = 0x013f,
}
/** `enum rdma_port_space`: each has port numbers of its own. */
export const PortSpace: Members<typeof PortSpaceValue> = members(PortSpaceValue);
/** A value of {@link PortSpace}. A number that comes from C is one as well; another enumeration's value is not. */
export type PortSpace = PortSpaceValue;

enum OptionLevelValue {
  /** `RDMA_OPTION_ID`: see {@link IdOption}. */
  ID = 0,
  /** `RDMA_OPTION_IB`: see {@link IbOption}. */
  IB = 1,
}
/** Levels of {@link CmId.setOption}. */
export const OptionLevel: Members<typeof OptionLevelValue> = members(OptionLevelValue);
/** A value of {@link OptionLevel}. A number that comes from C is one as well; another enumeration's value is not. */
export type OptionLevel = OptionLevelValue;

enum IdOptionValue {
  /** `RDMA_OPTION_ID_TOS`, one byte: the traffic class of RFC 2474. */
  TOS = 0,
  /** `RDMA_OPTION_ID_REUSEADDR`, an `int`: others may bind to the port, too. */
  REUSEADDR = 1,
  /** `RDMA_OPTION_ID_AFONLY`, an `int`: an identifier that is bound to `::` takes IPv6 only. */
  AFONLY = 2,
  /** `RDMA_OPTION_ID_ACK_TIMEOUT`, one byte: as `timeout` of a queue pair. */
  ACK_TIMEOUT = 3,
}
/** Options of the level {@link OptionLevel}.ID. */
export const IdOption: Members<typeof IdOptionValue> = members(IdOptionValue);
/** A value of {@link IdOption}. A number that comes from C is one as well; another enumeration's value is not. */
export type IdOption = IdOptionValue;

enum IbOptionValue {
  /** `RDMA_OPTION_IB_PATH`: an array of `struct ibv_path_data`, instead of `resolveRoute`. */
  PATH = 1,
}
/** Options of the level {@link OptionLevel}.IB. */
export const IbOption: Members<typeof IbOptionValue> = members(IbOptionValue);
/** A value of {@link IbOption}. A number that comes from C is one as well; another enumeration's value is not. */
export type IbOption = IbOptionValue;

enum JoinFlagsValue {
  /** `RDMA_MC_JOIN_FLAG_FULLMEMBER`: sends and receives. */
  FULLMEMBER = 0,
  /** `RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER`: only sends. */
  SENDONLY_FULLMEMBER = 1,
}
/** `enum rdma_cm_mc_join_flags`, for {@link CmId.joinMulticast}. */
export const JoinFlags: Members<typeof JoinFlagsValue> = members(JoinFlagsValue);
/** Or-ed values of {@link JoinFlags}, or 0. A number that comes from C is one as well; another enumeration's value is not. */
export type JoinFlags = JoinFlagsValue | 0;

enum AddrInfoFlagsValue {
  /** `RAI_PASSIVE`: an address to listen at. */
  PASSIVE = 1,
  /** `RAI_NUMERICHOST`: the node is an address; no name server is asked. */
  NUMERICHOST = 2,
  /** `RAI_NOROUTE`: without route. */
  NOROUTE = 4,
  /** `RAI_FAMILY`: `family` of the hints counts. */
  FAMILY = 8,
  /** `RAI_SA`, of {@link CmId.resolveAddrinfo}: the service is asked of InfiniBand's subnet administrator. Since release 60. */
  SA = 0x10,
  /** `RAI_DNS`, of {@link CmId.resolveAddrinfo}: the name server is asked, as without it. Since release 60. */
  DNS = 0x20,
}
/** Flags of {@link getaddrinfo} and {@link CmId.resolveAddrinfo}. */
export const AddrInfoFlags: Members<typeof AddrInfoFlagsValue> = members(AddrInfoFlagsValue);
/** Or-ed values of {@link AddrInfoFlags}, or 0. A number that comes from C is one as well; another enumeration's value is not. */
export type AddrInfoFlags = AddrInfoFlagsValue | 0;

enum RejectReasonValue {
  /** The peer has no queue pair left. */
  NO_QP = 1,
  /** The peer has no end-to-end context left. */
  NO_EEC = 2,
  /** The peer has no resources left. */
  NO_RESOURCES = 3,
  /** The peer did not get an answer in time. */
  TIMEOUT = 4,
  /** The request is not supported. */
  UNSUPPORTED = 5,
  /** The peer does not know the connection. */
  INVALID_COMM_ID = 6,
  /** The peer knows another instance of the connection. */
  INVALID_COMM_INSTANCE = 7,
  /** Nobody listens at that address and port. */
  INVALID_SERVICE_ID = 8,
  /** The transport is not that of the service. */
  INVALID_TRANSPORT_TYPE = 9,
  /** The peer believes that the queue pair is connected. */
  STALE_CONN = 10,
  /** There is no such RDC. */
  RDC_NOT_EXIST = 11,
  /** The address of the request is not the peer's. */
  INVALID_GID = 12,
  /** The LID of the request is not the peer's. */
  INVALID_LID = 13,
  /** The service level is not possible. */
  INVALID_SL = 14,
  /** The traffic class is not possible. */
  INVALID_TRAFFIC_CLASS = 15,
  /** The hop limit is not possible. */
  INVALID_HOP_LIMIT = 16,
  /** The rate is not possible. */
  INVALID_PACKET_RATE = 17,
  /** The alternate address is not the peer's. */
  INVALID_ALT_GID = 18,
  /** The alternate LID is not the peer's. */
  INVALID_ALT_LID = 19,
  /** The alternate service level is not possible. */
  INVALID_ALT_SL = 20,
  /** The alternate traffic class is not possible. */
  INVALID_ALT_TRAFFIC_CLASS = 21,
  /** The alternate hop limit is not possible. */
  INVALID_ALT_HOP_LIMIT = 22,
  /** The alternate rate is not possible. */
  INVALID_ALT_PACKET_RATE = 23,
  /** Another port of the peer has the service. */
  PORT_CM_REDIRECT = 24,
  /** Another address has the service. */
  PORT_REDIRECT = 25,
  /** The path MTU is not possible. */
  INVALID_MTU = 26,
  /** The peer has not as many responder resources. */
  INSUFFICIENT_RESP_RESOURCES = 27,
  /** The program rejected the request. */
  CONSUMER_DEFINED = 28,
  /** The retry count for RNR NAKs is not possible. */
  INVALID_RNR_RETRY = 29,
  /** The request is a duplicate. */
  DUPLICATE_LOCAL_COMM_ID = 30,
  /** The class version is not known. */
  INVALID_CLASS_VERSION = 31,
  /** The flow label is not possible. */
  INVALID_FLOW_LABEL = 32,
  /** The alternate flow label is not possible. */
  INVALID_ALT_FLOW_LABEL = 33,
  /** The vendor's enhancements are not supported. */
  VENDOR_OPTION_NOT_SUPPORTED = 35,
}
/** Why a request was rejected: the reasons of InfiniBand's communication management (IBTA table 107). */
export const RejectReason: Members<typeof RejectReasonValue> = members(RejectReasonValue);
/** A value of {@link RejectReason}. A number that comes from C is one as well; another enumeration's value is not. */
export type RejectReason = RejectReasonValue;
