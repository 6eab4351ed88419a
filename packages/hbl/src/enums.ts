import { members, type Members } from '@verbs/core/provider';

enum QpCapsValue {
  /** `HBLDV_QP_CAP_LOOPBACK`: packets come back to the port that sends them. At RTR. */
  LOOPBACK = 0x1,
  /** `HBLDV_QP_CAP_CONG_CTRL`: congestion control, with `congestionWnd`. At RTS. */
  CONG_CTRL = 0x2,
  /** `HBLDV_QP_CAP_COMPRESSION`: the device compresses what it sends. At RTS. */
  COMPRESSION = 0x4,
  /** `HBLDV_QP_CAP_SACK`: selective acknowledgements. The Gaudi SDK's library only. */
  SACK = 0x8,
  /** `HBLDV_QP_CAP_ENCAP`: `encapNum` is valid. Needed at RTR and at RTS. */
  ENCAP = 0x10,
  /** `HBLDV_QP_CAP_COLL`: a queue pair of collectives, with the `coll` fields. The Gaudi SDK's library only. */
  COLL = 0x20,
  /** `HBLDV_QP_CAP_MIGRATE`: `qpToMigrate` is valid. The Gaudi SDK's library only. */
  MIGRATE = 0x40,
}
/** Capabilities of a queue pair, or-ed: `caps` of `modifyQp`. */
export const QpCaps: Members<typeof QpCapsValue> = members(QpCapsValue);
/** Or-ed values of {@link QpCaps}, or 0. A number that comes from C is one as well; another enumeration's value is not. */
export type QpCaps = QpCapsValue | 0;

enum PortCapsValue {
  /** `HBLDV_PORT_CAP_ADVANCED`: rendezvous, QMan and WTD; also needed for congestion-control completion queues. */
  ADVANCED = 0x1,
  /** `HBLDV_PORT_CAP_ADAPTIVE_TIMEOUT`: the device adapts the timeout for acknowledgements. */
  ADAPTIVE_TIMEOUT = 0x2,
}
/** Capabilities of a port, or-ed: `caps` of `setPortEx`. */
export const PortCaps: Members<typeof PortCapsValue> = members(PortCapsValue);
/** Or-ed values of {@link PortCaps}, or 0. A number that comes from C is one as well; another enumeration's value is not. */
export type PortCaps = PortCapsValue | 0;

enum MemIdValue {
  /** `HBLDV_MEM_HOST`: the host's memory. */
  HOST = 1,
  /** `HBLDV_MEM_DEVICE`: the accelerator's memory. */
  DEVICE = 2,
}
/** The memory of work queues. */
export const MemId: Members<typeof MemIdValue> = members(MemIdValue);
/** A value of {@link MemId}. A number that comes from C is one as well; another enumeration's value is not. */
export type MemId = MemIdValue;

enum WqArrayTypeValue {
  /** `HBLDV_WQ_ARRAY_TYPE_GENERIC`: the work queues of ordinary queue pairs. */
  GENERIC = 0,
  /** `HBLDV_WQ_ARRAY_TYPE_COLLECTIVE`: the work queues of collectives within a machine. The Gaudi SDK's library only. */
  COLLECTIVE = 1,
  /** `HBLDV_WQ_ARRAY_TYPE_SCALE_OUT_COLLECTIVE`: those of collectives between machines. The Gaudi SDK's library only. */
  SCALE_OUT_COLLECTIVE = 2,
}
/** The arrays in `wqArrAttr` of `setPortEx`, by their index; the other indices are reserved. */
export const WqArrayType: Members<typeof WqArrayTypeValue> = members(WqArrayTypeValue);
/** A value of {@link WqArrayType}. A number that comes from C is one as well; another enumeration's value is not. */
export type WqArrayType = WqArrayTypeValue;

enum SwqGranularityValue {
  /** `HBLDV_SWQE_GRAN_32B`: 32 bytes, linear writes. */
  GRAN_32B = 0,
  /** `HBLDV_SWQE_GRAN_64B`: 64 bytes, multi-stride writes. */
  GRAN_64B = 1,
}
/** The size of an entry of a send work queue: a linear write, or a multi-stride write. */
export const SwqGranularity: Members<typeof SwqGranularityValue> = members(SwqGranularityValue);
/** A value of {@link SwqGranularity}. A number that comes from C is one as well; another enumeration's value is not. */
export type SwqGranularity = SwqGranularityValue;

enum UsrFifoTypeValue {
  /** Direct doorbells of the user. */
  DB = 0,
  /** Congestion control. */
  CC = 1,
  /** Short collective operations. This one and those below: the Gaudi SDK's library only. */
  COLL_OPS_SHORT = 2,
  /** Long collective operations. */
  COLL_OPS_LONG = 3,
  /** Direct work queue entries of linear writes. */
  DWQ_LIN = 4,
  /** Direct work queue entries of multi-stride writes. */
  DWQ_MS = 5,
  /** Short collective operations with a direction. */
  COLL_DIR_OPS_SHORT = 6,
  /** Long collective operations with a direction. */
  COLL_DIR_OPS_LONG = 7,
  /** Link aggregation. */
  LAG = 8,
  /** Completions of link aggregation. */
  LAG_COMPLETION = 9,
}
/** The operation mode of a user FIFO. */
export const UsrFifoType: Members<typeof UsrFifoTypeValue> = members(UsrFifoTypeValue);
/** A value of {@link UsrFifoType}. A number that comes from C is one as well; another enumeration's value is not. */
export type UsrFifoType = UsrFifoTypeValue;

enum QpWqTypesValue {
  /** `HBLDV_WQ_WRITE`: RDMA writes; there is no native send. */
  WRITE = 0x1,
  /** `HBLDV_WQ_RECV_RDV`: the receiving side of a rendezvous. */
  RECV_RDV = 0x2,
  /** `HBLDV_WQ_READ_RDV`: a rendezvous that reads. */
  READ_RDV = 0x4,
  /** `HBLDV_WQ_SEND_RDV`: the sending side of a rendezvous. */
  SEND_RDV = 0x8,
  /** `HBLDV_WQ_READ_RDV_ENDP`: the end that READ_RDV reads from; it has no operations of its own. */
  READ_RDV_ENDP = 0x10,
}
/** The use of a queue pair's work queue, or-ed: WRITE with RECV_RDV or with READ_RDV, the others alone. */
export const QpWqTypes: Members<typeof QpWqTypesValue> = members(QpWqTypesValue);
/** Or-ed values of {@link QpWqTypes}, or 0. A number that comes from C is one as well; another enumeration's value is not. */
export type QpWqTypes = QpWqTypesValue | 0;

enum CqTypeValue {
  /** `HBLDV_CQ_TYPE_QP`: completions of queue pairs. */
  QP = 0,
  /** `HBLDV_CQ_TYPE_CC`: congestion control. */
  CC = 1,
}
/** The use of a completion queue. */
export const CqType: Members<typeof CqTypeValue> = members(CqTypeValue);
/** A value of {@link CqType}. A number that comes from C is one as well; another enumeration's value is not. */
export type CqType = CqTypeValue;

enum EncapTypeValue {
  /** No tunnelling. */
  NO_ENC = 0,
  /** The RDMA packets go through the L3 layer: IPv4 with a protocol number, the header, the packet. */
  ENC_OVER_IPV4 = 1,
  /** The RDMA packets go through the L4 layer: UDP to a port, the header, the packet. */
  ENC_OVER_UDP = 2,
}
/** `enum hbldv_encap_type`. */
export const EncapType: Members<typeof EncapTypeValue> = members(EncapTypeValue);
/** A value of {@link EncapType}. A number that comes from C is one as well; another enumeration's value is not. */
export type EncapType = EncapTypeValue;

enum DeviceCapsValue {
  /** `HBLDV_DEVICE_ATTR_CAP_CC`: congestion control. */
  CC = 1,
  /** `HBLDV_DEVICE_ATTR_CAP_COLL`: collectives. The Gaudi SDK's library only. */
  COLL = 2,
}
/** `caps` of `queryDevice`. */
export const DeviceCaps: Members<typeof DeviceCapsValue> = members(DeviceCapsValue);
/** A value of {@link DeviceCaps}. A number that comes from C is one as well; another enumeration's value is not. */
export type DeviceCaps = DeviceCapsValue;

enum CollSchedResourceTypeValue {
  /** `HBLDV_NMS_AF_UMR`: registers of the scheduler's aggregation FIFO. */
  NMS_AF_UMR = 0,
  /** `HBLDV_NMS_AF`: the aggregation FIFO. */
  NMS_AF = 1,
  /** `HBLDV_NMS_ARC_AUX`: auxiliary registers of its processor. */
  NMS_ARC_AUX = 2,
  /** `HBLDV_NMS_ARC_DCCM`: memory of its processor. */
  NMS_ARC_DCCM = 3,
  /** `HBLDV_NMS_SDUP`: the duplicator of sends. */
  NMS_SDUP = 4,
  /** `HBLDV_NMS_SM`: the sync manager. */
  NMS_SM = 5,
  /** `HBLDV_NMS_MFC_SLOTS`: slots of multi-flow control. */
  NMS_MFC_SLOTS = 6,
  /** `HBLDV_NMS_EDUP_PUSH`: the push registers of the engine's duplicator. */
  NMS_EDUP_PUSH = 7,
  /** `HBLDV_NMS_EDUP_GRPS`: the groups of the engine's duplicator. */
  NMS_EDUP_GRPS = 8,
  /** `HBLDV_PDMA`: PCI DMA. */
  PDMA = 9,
  /** `HBLDV_EDMA`: engine DMA. */
  EDMA = 10,
  /** `HBLDV_NIC_USR_FIFO_UMR`: registers of the user FIFOs. */
  NIC_USR_FIFO_UMR = 11,
  /** `HBLDV_NMS_SM_UMR`: registers of the sync manager. */
  NMS_SM_UMR = 12,
}
/** What `reserveCollSchedResources` gives, by its `type`. */
export const CollSchedResourceType: Members<typeof CollSchedResourceTypeValue> = members(CollSchedResourceTypeValue);
/** A value of {@link CollSchedResourceType}. A number that comes from C is one as well; another enumeration's value is not. */
export type CollSchedResourceType = CollSchedResourceTypeValue;

/** A `pathMtu` that core's `Mtu` does not have. The software model uses its largest MTU, 4096 bytes, instead. */
export const MTU_8192 = 6;
