import { members, type Members } from './members.js';

enum NodeTypeValue {
  /** `IBV_NODE_UNKNOWN`: the library does not know it. */
  UNKNOWN = -1,
  /** `IBV_NODE_CA`: a channel adapter, of InfiniBand or RoCE; the usual one. */
  CA = 1,
  /** `IBV_NODE_SWITCH`: a switch of InfiniBand. */
  SWITCH = 2,
  /** `IBV_NODE_ROUTER`: a router of InfiniBand. */
  ROUTER = 3,
  /** `IBV_NODE_RNIC`: an adapter of iWARP. */
  RNIC = 4,
  /** `IBV_NODE_USNIC`: Cisco's usNIC. */
  USNIC = 5,
  /** `IBV_NODE_USNIC_UDP`: Cisco's usNIC over UDP. */
  USNIC_UDP = 6,
  /** `IBV_NODE_UNSPECIFIED`: none of these, for instance EFA. */
  UNSPECIFIED = 7,
}
/** `enum ibv_node_type`: the kind of a device. */
export const NodeType: Members<typeof NodeTypeValue> = members(NodeTypeValue);
/** A value of {@link NodeType}. A number that comes from C is one as well; another enumeration's value is not. */
export type NodeType = NodeTypeValue;

enum TransportTypeValue {
  /** `IBV_TRANSPORT_UNKNOWN`: the library does not know it. */
  UNKNOWN = -1,
  /** `IBV_TRANSPORT_IB`: InfiniBand's transport; that of RoCE, too. */
  IB = 0,
  /** `IBV_TRANSPORT_IWARP`: iWARP, RDMA over TCP. */
  IWARP = 1,
  /** `IBV_TRANSPORT_USNIC`: Cisco's usNIC. */
  USNIC = 2,
  /** `IBV_TRANSPORT_USNIC_UDP`: Cisco's usNIC over UDP. */
  USNIC_UDP = 3,
  /** `IBV_TRANSPORT_UNSPECIFIED`: a vendor's own. */
  UNSPECIFIED = 4,
}
/** `enum ibv_transport_type`: which protocol a device's queue pairs speak. */
export const TransportType: Members<typeof TransportTypeValue> = members(TransportTypeValue);
/** A value of {@link TransportType}. A number that comes from C is one as well; another enumeration's value is not. */
export type TransportType = TransportTypeValue;

enum AtomicCapValue {
  /** `IBV_ATOMIC_NONE`: there are none. */
  NONE = 0,
  /** `IBV_ATOMIC_HCA`: among the queue pairs of this device. */
  HCA = 1,
  /** `IBV_ATOMIC_GLOB`: also against the processor and other devices. */
  GLOB = 2,
}
/** `enum ibv_atomic_cap`: among whom atomic requests are atomic. */
export const AtomicCap: Members<typeof AtomicCapValue> = members(AtomicCapValue);
/** A value of {@link AtomicCap}. A number that comes from C is one as well; another enumeration's value is not. */
export type AtomicCap = AtomicCapValue;

enum DeviceCapFlagsValue {
  /** `IBV_DEVICE_RESIZE_MAX_WR`: the queues of a queue pair can be resized (`qp.modify` with `cap`). */
  RESIZE_MAX_WR = 1,
  /** `IBV_DEVICE_BAD_PKEY_CNTR`: ports count packets with a wrong partition key. */
  BAD_PKEY_CNTR = 1 << 1,
  /** `IBV_DEVICE_BAD_QKEY_CNTR`: ports count datagrams with a wrong qkey. */
  BAD_QKEY_CNTR = 1 << 2,
  /** `IBV_DEVICE_RAW_MULTI`: raw packets can be multicast. */
  RAW_MULTI = 1 << 3,
  /** `IBV_DEVICE_AUTO_PATH_MIG`: queue pairs can have an alternate path. */
  AUTO_PATH_MIG = 1 << 4,
  /** `IBV_DEVICE_CHANGE_PHY_PORT`: a queue pair can change its port on its way from SQD to RTS. */
  CHANGE_PHY_PORT = 1 << 5,
  /** `IBV_DEVICE_UD_AV_PORT_ENFORCE`: the port of an address handle is checked against that of the queue pair. */
  UD_AV_PORT_ENFORCE = 1 << 6,
  /** `IBV_DEVICE_CURR_QP_STATE_MOD`: `qp.modify` checks `curQpState`. */
  CURR_QP_STATE_MOD = 1 << 7,
  /** `IBV_DEVICE_SHUTDOWN_PORT`: ports can be shut down. */
  SHUTDOWN_PORT = 1 << 8,
  /** `IBV_DEVICE_INIT_TYPE`: ports can ask the subnet manager for a kind of initialisation. */
  INIT_TYPE = 1 << 9,
  /** `IBV_DEVICE_PORT_ACTIVE_EVENT`: there are PORT_ACTIVE events. */
  PORT_ACTIVE_EVENT = 1 << 10,
  /** `IBV_DEVICE_SYS_IMAGE_GUID`: `sysImageGuid` is valid. */
  SYS_IMAGE_GUID = 1 << 11,
  /** `IBV_DEVICE_RC_RNR_NAK_GEN`: a queue pair of RC without receive requests asks its peer to wait (RNR NAK). */
  RC_RNR_NAK_GEN = 1 << 12,
  /** `IBV_DEVICE_SRQ_RESIZE`: shared receive queues can be resized (`srq.modify` with `maxWr`). */
  SRQ_RESIZE = 1 << 13,
  /** `IBV_DEVICE_N_NOTIFY_CQ`: a completion queue can notify after a number of completions. */
  N_NOTIFY_CQ = 1 << 14,
  /** `IBV_DEVICE_MEM_WINDOW`: there are memory windows of type 1. */
  MEM_WINDOW = 1 << 17,
  /** `IBV_DEVICE_UD_IP_CSUM`: SendFlags.IP_CSUM and WcFlags.IP_CSUM_OK work on UD queue pairs. */
  UD_IP_CSUM = 1 << 18,
  /** `IBV_DEVICE_XRC`: there are XRC queue pairs. */
  XRC = 1 << 20,
  /** `IBV_DEVICE_MEM_MGT_EXTENSIONS`: SEND_WITH_INV and LOCAL_INV work. */
  MEM_MGT_EXTENSIONS = 1 << 21,
  /** `IBV_DEVICE_MEM_WINDOW_TYPE_2A`: windows of type 2, which belong to a queue pair. */
  MEM_WINDOW_TYPE_2A = 1 << 23,
  /** `IBV_DEVICE_MEM_WINDOW_TYPE_2B`: windows of type 2, which belong to a queue pair and its protection domain. */
  MEM_WINDOW_TYPE_2B = 1 << 24,
  /** `IBV_DEVICE_RC_IP_CSUM`: SendFlags.IP_CSUM and WcFlags.IP_CSUM_OK work on RC queue pairs. */
  RC_IP_CSUM = 1 << 25,
  /** `IBV_DEVICE_RAW_IP_CSUM`: SendFlags.IP_CSUM and WcFlags.IP_CSUM_OK work on RAW_PACKET queue pairs. */
  RAW_IP_CSUM = 1 << 26,
  /** `IBV_DEVICE_MANAGED_FLOW_STEERING`: `qp.createFlow` works. */
  MANAGED_FLOW_STEERING = 1 << 29,
}
/** `enum ibv_device_cap_flags`: the capabilities of a device, or-ed. */
export const DeviceCapFlags: Members<typeof DeviceCapFlagsValue> = members(DeviceCapFlagsValue);
/** Or-ed values of {@link DeviceCapFlags}, or 0. A number that comes from C is one as well; another enumeration's value is not. */
export type DeviceCapFlags = DeviceCapFlagsValue | 0;

enum ForkStatusValue {
  /** `IBV_FORK_DISABLED`: `forkInit` was not called. */
  DISABLED = 0,
  /** `IBV_FORK_ENABLED`: `forkInit` was called; the library keeps registered pages from being copied. */
  ENABLED = 1,
  /** `IBV_FORK_UNNEEDED`: the kernel sees to it by itself. */
  UNNEEDED = 2,
}
/** `enum ibv_fork_status`: whether a process may fork while memory is registered. */
export const ForkStatus: Members<typeof ForkStatusValue> = members(ForkStatusValue);
/** A value of {@link ForkStatus}. A number that comes from C is one as well; another enumeration's value is not. */
export type ForkStatus = ForkStatusValue;
