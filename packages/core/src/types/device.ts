import type {
  AtomicCap,
  DeviceCapFlags,
  EventType,
  GidType,
  LinkLayer,
  Mtu,
  NodeType,
  PortFlags,
  PortState,
  RxHashFunction,
  TransportType,
} from '../enums/index.js';

/** The vendor's own library, or the model of @verbs/soft. */
export type LibraryKind = 'system' | 'soft';

/** A device of this machine. Plain data: nothing is open, nothing needs closing. */
export interface DeviceInfo {
  /** `ibv_get_device_name`: 'mlx5_0', 'soft0'. */
  name: string;
  /** `ibv_get_device_guid`: the node GUID in host order; {@link formatGuid} prints it. */
  guid: bigint;
  /** See {@link NodeType}. */
  nodeType: NodeType;
  /** See {@link TransportType}. */
  transportType: TransportType;
  /** Which library drives it: the system's libibverbs, or the software NIC. */
  library: LibraryKind;
  /** `ibv_device.dev_name`: 'uverbs0'. */
  devName: string;
  /** `ibv_device.dev_path`: the folder of the kernel's uverbs device in sysfs. */
  devPath: string;
  /** `ibv_device.ibdev_path`: the folder of the RDMA device in sysfs, for {@link readSysfsFile}. */
  ibdevPath: string;
  /** `ibv_get_device_index`: the kernel's number of the device; -1 where the library has none. */
  index: number;
}

/**
 * `struct ibv_device_attr`: the attributes and the limits of a device. GUIDs are in host order. The limits are upper
 * bounds: memory, permissions and other programs may allow less.
 */
export interface DeviceAttr {
  /** `fw_ver`: the firmware's version, as text. */
  fwVer: string;
  /** `node_guid`: the device's own identifier; {@link formatGuid} prints it. */
  nodeGuid: bigint;
  /** `sys_image_guid`: the same for all devices of one adapter. */
  sysImageGuid: bigint;
  /** `max_mr_size`: the largest memory region, in bytes. */
  maxMrSize: bigint;
  /** `page_size_cap`: a bit for each page size that the device can map: bit 12 for 4096 bytes. */
  pageSizeCap: bigint;
  /** `vendor_id`: the vendor's number at the IEEE (OUI); 0x02c9 is Mellanox. */
  vendorId: number;
  /** `vendor_part_id`: the vendor's number for the product; on PCI the device id. */
  vendorPartId: number;
  /** `hw_ver`: the hardware's revision. */
  hwVer: number;
  /** `max_qp`: queue pairs. */
  maxQp: number;
  /** `max_qp_wr`: outstanding requests of one queue, of sends as of receives. */
  maxQpWr: number;
  /** `device_cap_flags`: see {@link DeviceCapFlags}. */
  deviceCapFlags: DeviceCapFlags;
  /** `max_sge`: elements of a request, other than of RDMA_READ. */
  maxSge: number;
  /** `max_sge_rd`: elements of an RDMA_READ. */
  maxSgeRd: number;
  /** `max_cq`: completion queues. */
  maxCq: number;
  /** `max_cqe`: entries of a completion queue. */
  maxCqe: number;
  /** `max_mr`: memory regions. */
  maxMr: number;
  /** `max_pd`: protection domains. */
  maxPd: number;
  /** `max_qp_rd_atom`: the largest `maxDestRdAtomic`: reads and atomics that a queue pair serves at a time. */
  maxQpRdAtom: number;
  /** `max_ee_rd_atom`: of reliable datagrams, which no device has: 0. */
  maxEeRdAtom: number;
  /** `max_res_rd_atom`: reads and atomics that the whole device serves at a time. */
  maxResRdAtom: number;
  /**
   * `max_qp_init_rd_atom`: the largest `maxRdAtomic`: reads and atomics that a queue pair has on their way at a time.
   */
  maxQpInitRdAtom: number;
  /** `max_ee_init_rd_atom`: of reliable datagrams, which no device has: 0. */
  maxEeInitRdAtom: number;
  /** `atomic_cap`: see {@link AtomicCap}. */
  atomicCap: AtomicCap;
  /** `max_ee`: of reliable datagrams, which no device has: 0. */
  maxEe: number;
  /** `max_rdd`: of reliable datagrams, which no device has: 0. */
  maxRdd: number;
  /** `max_mw`: memory windows. */
  maxMw: number;
  /** `max_raw_ipv6_qp`: queue pairs for raw IPv6 datagrams. */
  maxRawIpv6Qp: number;
  /** `max_raw_ethy_qp`: queue pairs for raw datagrams by ethertype; not those of RAW_PACKET. */
  maxRawEthyQp: number;
  /** `max_mcast_grp`: multicast groups. */
  maxMcastGrp: number;
  /** `max_mcast_qp_attach`: queue pairs in one multicast group. */
  maxMcastQpAttach: number;
  /** `max_total_mcast_qp_attach`: queue pairs in multicast groups, in all. */
  maxTotalMcastQpAttach: number;
  /** `max_ah`: address handles. */
  maxAh: number;
  /** `max_fmr`: fast memory regions, which only the kernel had. */
  maxFmr: number;
  /** `max_map_per_fmr`: how often one of those is mapped anew. */
  maxMapPerFmr: number;
  /** `max_srq`: shared receive queues. */
  maxSrq: number;
  /** `max_srq_wr`: outstanding requests of a shared receive queue. */
  maxSrqWr: number;
  /** `max_srq_sge`: elements of a request of a shared receive queue. */
  maxSrqSge: number;
  /** `max_pkeys`: partition keys. */
  maxPkeys: number;
  /** `local_ca_ack_delay`: how long the device may take for an acknowledgement: 4.096 µs · 2^n. */
  localCaAckDelay: number;
  /** `phys_port_cnt`: ports, which count from 1. */
  physPortCnt: number;
}

/**
 * `struct ibv_device_attr_ex`. The fields beyond {@link DeviceAttr} are zero where the device has no extended query.
 */
export interface DeviceAttrEx extends DeviceAttr {
  /** `odp_caps`: which operations work on regions with AccessFlags.ON_DEMAND. */
  odpCaps: OdpCaps;
  /** `completion_timestamp_mask`: the bits of `wc.completionTimestamp` that count; 0n: there are no timestamps. */
  completionTimestampMask: bigint;
  /** `hca_core_clock`: the frequency of the device's clock in kHz; 0n: unknown. */
  hcaCoreClock: bigint;
  /** `device_cap_flags_ex`: {@link DeviceCapFlags} in the lower 32 bits, and newer ones above. */
  deviceCapFlagsEx: bigint;
  /** `tso_caps`: segmentation of large TCP packets. */
  tsoCaps: TsoCaps;
  /** `rss_caps`: receive side scaling. */
  rssCaps: RssCaps;
  /** `max_wq_type_rq`: receive work queues. */
  maxWqTypeRq: number;
  /** `packet_pacing_caps`: rate limits of queue pairs. */
  packetPacingCaps: PacketPacingCaps;
  /**
   * `raw_packet_caps`: the capabilities of RAW_PACKET: 1 VLAN stripping, 2 FCS scattering, 4 IP checksums, 8 delayed
   * drop.
   */
  rawPacketCaps: number;
  /** `tm_caps`: tag matching. */
  tmCaps: TmCaps;
  /** `cq_mod_caps`: the largest values of `cq.modify`. */
  cqModCaps: CqModCaps;
  /** `max_dm_size`: device memory in bytes, in all. */
  maxDmSize: bigint;
  /** `pci_atomic_caps`: atomics across PCI. */
  pciAtomicCaps: PciAtomicCaps;
  /** `phys_port_cnt_ex`: ports, where there may be more than 255. */
  physPortCntEx: number;
}

/**
 * `struct ibv_odp_caps`: on-demand paging. The fields of the transports are masks of operations: 1 send, 2 receive,
 * 4 write, 8 read, 16 atomics, 32 receive of a shared queue, 64 flush, 128 atomic write.
 */
export interface OdpCaps {
  /** `general_caps`: 1 there is such paging, 2 also of the whole address space at once. */
  generalCaps: bigint;
  /** `rc_odp_caps`: operations of RC. */
  rcOdpCaps: number;
  /** `uc_odp_caps`: operations of UC. */
  ucOdpCaps: number;
  /** `ud_odp_caps`: operations of UD. */
  udOdpCaps: number;
  /** `xrc_odp_caps`: operations of XRC. */
  xrcOdpCaps: number;
}

/** `struct ibv_tso_caps`. */
export interface TsoCaps {
  /** `max_tso`: the largest payload that the device segments, in bytes; 0: it does not. */
  maxTso: number;
  /** `supported_qpts`: a bit for each {@link QpType}: 1 << QpType.RAW_PACKET. */
  supportedQpts: number;
}

/** `struct ibv_rss_caps`: receive side scaling. */
export interface RssCaps {
  /** `supported_qpts`: a bit for each {@link QpType}: 1 << QpType.RAW_PACKET. */
  supportedQpts: number;
  /** `max_rwq_indirection_tables`: indirection tables. */
  maxRwqIndirectionTables: number;
  /** `max_rwq_indirection_table_size`: queues in a table. */
  maxRwqIndirectionTableSize: number;
  /** `rx_hash_fields_mask`: see {@link RxHashFields}. */
  rxHashFieldsMask: bigint;
  /** `rx_hash_function`: see {@link RxHashFunction}; a mask. */
  rxHashFunction: RxHashFunction;
}

/** `struct ibv_packet_pacing_caps`: rate limits, in kbit/s. */
export interface PacketPacingCaps {
  /** `qp_rate_limit_min`: the least limit. */
  qpRateLimitMin: number;
  /** `qp_rate_limit_max`: the largest; 0: there are no limits. */
  qpRateLimitMax: number;
  /** `supported_qpts`: a bit for each {@link QpType}: 1 << QpType.RAW_PACKET. */
  supportedQpts: number;
}

/** `struct ibv_tm_caps`: tag matching. */
export interface TmCaps {
  /** `max_rndv_hdr_size`: the header of a rendezvous request, in bytes. */
  maxRndvHdrSize: number;
  /** `max_num_tags`: tagged buffers of a shared receive queue; 0: there is no tag matching. */
  maxNumTags: number;
  /** `flags`: 1 (IBV_TM_CAP_RC) for RC. */
  flags: number;
  /** `max_ops`: outstanding changes of the list of tags. */
  maxOps: number;
  /** `max_sge`: elements of a tagged buffer. */
  maxSge: number;
}

/** `struct ibv_cq_moderation_caps`: see {@link CompletionQueue.modify}. */
export interface CqModCaps {
  /** `max_cq_count`: completions per event. */
  maxCqCount: number;
  /** `max_cq_period`: µs until an event. */
  maxCqPeriod: number;
}

/**
 * `struct ibv_pci_atomic_caps`: which sizes of an operation are atomic across PCI: bits of 4, 8 and 16 bytes: 1, 2, 4.
 */
export interface PciAtomicCaps {
  /** `fetch_add`: fetch and add. */
  fetchAdd: number;
  /** `swap`: swap without a condition. */
  swap: number;
  /** `compare_swap`: compare and swap. */
  compareSwap: number;
}

/** `struct ibv_port_attr`: the present state of a port. */
export interface PortAttr {
  /** `state`: see {@link PortState}. */
  state: PortState;
  /** `max_mtu`: the largest that the port supports; see {@link Mtu}. */
  maxMtu: Mtu;
  /** `active_mtu`: the largest now, the bound of `pathMtu`; see {@link Mtu}. */
  activeMtu: Mtu;
  /** `gid_tbl_len`: entries of the GID table, the empty ones included. */
  gidTblLen: number;
  /** `port_cap_flags`: the bits of `enum ibv_port_cap_flags`: the port's capabilities and agents. */
  portCapFlags: number;
  /** `max_msg_sz`: the largest message, in bytes. */
  maxMsgSz: number;
  /** `bad_pkey_cntr`: packets with a wrong partition key. */
  badPkeyCntr: number;
  /** `qkey_viol_cntr`: datagrams with a wrong qkey. */
  qkeyViolCntr: number;
  /** `pkey_tbl_len`: entries of the table of partition keys. */
  pkeyTblLen: number;
  /** `lid`: the port's address in its InfiniBand subnet; 0 on Ethernet. */
  lid: number;
  /** `sm_lid`: the LID of the subnet manager; 0 on Ethernet. */
  smLid: number;
  /** `lmc`: the port has 2^lmc LIDs from `lid` on. */
  lmc: number;
  /** `max_vl_num`: virtual lanes for data, as a code: 1 to 5 for 1, 2, 4, 8 and 15 lanes. */
  maxVlNum: number;
  /** `sm_sl`: the service level of the subnet manager. */
  smSl: number;
  /** `subnet_timeout`: the longest way through the subnet: 4.096 µs · 2^n. */
  subnetTimeout: number;
  /** `init_type_reply`: which initialisation the subnet manager did. */
  initTypeReply: number;
  /** `active_width`: lanes of the link, as a code: 1, 2, 4, 8 and 16 for 1, 4, 8, 12 and 2 lanes. */
  activeWidth: number;
  /**
   * `active_speed`: Gbit/s of a lane, as a code: 1 is 2.5, 2 is 5, 4 and 8 are 10, 16 is 14, 32 is 25, 64 is 50,
   * 128 is 100.
   */
  activeSpeed: number;
  /** `active_speed_ex`: the same in 32 bits; 0 from a libibverbs before release 49. */
  activeSpeedEx: number;
  /**
   * `phys_state`: 1 asleep, 2 polling, 3 disabled, 4 training, 5 link up, 6 recovering from an error, 7 under test.
   */
  physState: number;
  /** `link_layer`: see {@link LinkLayer}. */
  linkLayer: LinkLayer;
  /** `flags`: see {@link PortFlags}. */
  flags: PortFlags;
  /** `port_cap_flags2`: the bits of `enum ibv_port_cap_flags2`. */
  portCapFlags2: number;
}

/** `struct ibv_gid_entry`: one address of a port. */
export interface GidEntry {
  /** `gid_index`: as `sgidIndex` names it. */
  index: number;
  /** `port_num`: the port, from 1. */
  portNum: number;
  /** `gid`: IPv6 text, for instance `::ffff:10.0.0.1`. */
  gid: string;
  /** `gid_type`: see {@link GidType}. */
  type: GidType;
  /** `ndev_ifindex`: the network interface's index, 0 if there is none. */
  ndevIfindex: number;
}

/** `struct ibv_async_event`: something happened to a device, a port, a queue pair or a completion queue. */
export interface AsyncEvent {
  /** See {@link EventType}. */
  type: EventType;
  /** The name of `type` in {@link EventType}: 'PORT_ERR'. */
  name: string;
  /** The port, of port events. */
  portNum?: number;
  /** The object of its event, a {@link QueuePair} for instance, if the program still holds it. */
  element?: object;
}
