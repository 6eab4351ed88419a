/** `struct ibv_device_attr`: what a device is and how much of everything it has. GUIDs are in host order. */
export interface DeviceAttr {
  fwVer: string;
  nodeGuid: bigint;
  sysImageGuid: bigint;
  /** Bytes. */
  maxMrSize: bigint;
  /** A bit for each page size, in bytes. */
  pageSizeCap: bigint;
  vendorId: number;
  vendorPartId: number;
  hwVer: number;
  maxQp: number;
  maxQpWr: number;
  /** See {@link DeviceCapFlags}. */
  deviceCapFlags: number;
  maxSge: number;
  maxSgeRd: number;
  maxCq: number;
  maxCqe: number;
  maxMr: number;
  maxPd: number;
  maxQpRdAtom: number;
  maxEeRdAtom: number;
  maxResRdAtom: number;
  maxQpInitRdAtom: number;
  maxEeInitRdAtom: number;
  /** See {@link AtomicCap}. */
  atomicCap: number;
  maxEe: number;
  maxRdd: number;
  maxMw: number;
  maxRawIpv6Qp: number;
  maxRawEthyQp: number;
  maxMcastGrp: number;
  maxMcastQpAttach: number;
  maxTotalMcastQpAttach: number;
  maxAh: number;
  maxFmr: number;
  maxMapPerFmr: number;
  maxSrq: number;
  maxSrqWr: number;
  maxSrqSge: number;
  maxPkeys: number;
  /** 4.096 µs · 2^n. */
  localCaAckDelay: number;
  physPortCnt: number;
}

/** `struct ibv_device_attr_ex`. All zero where the device has no extended query. */
export interface DeviceAttrEx extends DeviceAttr {
  odpCaps: { generalCaps: bigint; rcOdpCaps: number; ucOdpCaps: number; udOdpCaps: number; xrcOdpCaps: number };
  completionTimestampMask: bigint;
  /** kHz. */
  hcaCoreClock: bigint;
  deviceCapFlagsEx: bigint;
  tsoCaps: { maxTso: number; supportedQpts: number };
  rssCaps: {
    supportedQpts: number;
    maxRwqIndirectionTables: number;
    maxRwqIndirectionTableSize: number;
    rxHashFieldsMask: bigint;
    rxHashFunction: number;
  };
  maxWqTypeRq: number;
  /** Rates in kbit/s. */
  packetPacingCaps: { qpRateLimitMin: number; qpRateLimitMax: number; supportedQpts: number };
  rawPacketCaps: number;
  tmCaps: { maxRndvHdrSize: number; maxNumTags: number; flags: number; maxOps: number; maxSge: number };
  /** Period in µs. */
  cqModCaps: { maxCqCount: number; maxCqPeriod: number };
  maxDmSize: bigint;
  pciAtomicCaps: { fetchAdd: number; swap: number; compareSwap: number };
  physPortCntEx: number;
}

/** `struct ibv_port_attr`. */
export interface PortAttr {
  /** See {@link PortState}. */
  state: number;
  /** See {@link Mtu}. */
  maxMtu: number;
  /** See {@link Mtu}. */
  activeMtu: number;
  gidTblLen: number;
  portCapFlags: number;
  /** Bytes. */
  maxMsgSz: number;
  badPkeyCntr: number;
  qkeyViolCntr: number;
  pkeyTblLen: number;
  lid: number;
  smLid: number;
  lmc: number;
  maxVlNum: number;
  smSl: number;
  subnetTimeout: number;
  initTypeReply: number;
  activeWidth: number;
  activeSpeed: number;
  physState: number;
  /** See {@link LinkLayer}. */
  linkLayer: number;
  /** See {@link PortFlags}. */
  flags: number;
  portCapFlags2: number;
}

/** `struct ibv_gid_entry`. */
export interface GidEntry {
  /** As `sgidIndex` names it. */
  index: number;
  portNum: number;
  /** IPv6 text, for instance `::ffff:10.0.0.1`. */
  gid: string;
  /** See {@link GidType}. */
  type: number;
  /** The network interface's index, 0 if there is none. */
  ndevIfindex: number;
}
