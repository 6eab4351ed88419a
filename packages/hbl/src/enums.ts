/** Capabilities of a queue pair, or-ed: `caps` of `modifyQp`. */
export const QpCaps = {
  /** `HBLDV_QP_CAP_LOOPBACK`: packets come back to the port that sends them. At RTR. */
  LOOPBACK: 0x1,
  /** `HBLDV_QP_CAP_CONG_CTRL`: congestion control, with `congestionWnd`. At RTS. */
  CONG_CTRL: 0x2,
  /** `HBLDV_QP_CAP_COMPRESSION`: the device compresses what it sends. At RTS. */
  COMPRESSION: 0x4,
  /** `HBLDV_QP_CAP_ENCAP`: `encapNum` is valid. Needed at RTR and at RTS. */
  ENCAP: 0x10,
} as const;

/** Capabilities of a port, or-ed: `caps` of `setPortEx`. */
export const PortCaps = {
  /** `HBLDV_PORT_CAP_ADVANCED`: rendezvous, QMan and WTD; also needed for congestion-control completion queues. */
  ADVANCED: 0x1,
  /** `HBLDV_PORT_CAP_ADAPTIVE_TIMEOUT`: the device adapts the timeout for acknowledgements. */
  ADAPTIVE_TIMEOUT: 0x2,
} as const;

/** The memory of work queues. */
export const MemId = {
  /** `HBLDV_MEM_HOST`: the host's memory. */
  HOST: 1,
  /** `HBLDV_MEM_DEVICE`: the accelerator's memory. */
  DEVICE: 2,
} as const;

/** The arrays in `wqArrAttr` of `setPortEx`, by their index; the other indices are reserved. */
export const WqArrayType = {
  /** `HBLDV_WQ_ARRAY_TYPE_GENERIC`: the work queues of ordinary queue pairs. */
  GENERIC: 0,
} as const;

/** The size of an entry of a send work queue: a linear write, or a multi-stride write. */
export const SwqGranularity = {
  /** `HBLDV_SWQE_GRAN_32B`: 32 bytes, linear writes. */
  GRAN_32B: 0,
  /** `HBLDV_SWQE_GRAN_64B`: 64 bytes, multi-stride writes. */
  GRAN_64B: 1,
} as const;

/** The operation mode of a user FIFO. */
export const UsrFifoType = {
  /** Direct doorbells of the user. */
  DB: 0,
  /** Congestion control. */
  CC: 1,
} as const;

/** The use of a queue pair's work queue, or-ed: WRITE with RECV_RDV or with READ_RDV, the others alone. */
export const QpWqTypes = {
  /** `HBLDV_WQ_WRITE`: RDMA writes; there is no native send. */
  WRITE: 0x1,
  /** `HBLDV_WQ_RECV_RDV`: the receiving side of a rendezvous. */
  RECV_RDV: 0x2,
  /** `HBLDV_WQ_READ_RDV`: a rendezvous that reads. */
  READ_RDV: 0x4,
  /** `HBLDV_WQ_SEND_RDV`: the sending side of a rendezvous. */
  SEND_RDV: 0x8,
  /** `HBLDV_WQ_READ_RDV_ENDP`: the end that READ_RDV reads from; it has no operations of its own. */
  READ_RDV_ENDP: 0x10,
} as const;

/** The use of a completion queue. */
export const CqType = {
  /** `HBLDV_CQ_TYPE_QP`: completions of queue pairs. */
  QP: 0,
  /** `HBLDV_CQ_TYPE_CC`: congestion control. */
  CC: 1,
} as const;

/** `enum hbldv_encap_type`. */
export const EncapType = {
  /** No tunnelling. */
  NO_ENC: 0,
  /** The RDMA packets go through the L3 layer: IPv4 with a protocol number, the header, the packet. */
  ENC_OVER_IPV4: 1,
  /** The RDMA packets go through the L4 layer: UDP to a port, the header, the packet. */
  ENC_OVER_UDP: 2,
} as const;

/** `caps` of `queryDevice`. */
export const DeviceCaps = {
  /** `HBLDV_DEVICE_ATTR_CAP_CC`: congestion control. */
  CC: 1,
} as const;

/** A `pathMtu` that core's `Mtu` does not have. The software model uses its largest MTU, 4096 bytes, instead. */
export const MTU_8192 = 6;
