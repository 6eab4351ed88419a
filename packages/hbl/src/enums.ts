/** Capabilities of a queue pair, to be or-ed: `modifyQp`'s `caps`. */
export const QpCaps = {
  LOOPBACK: 0x1,
  CONG_CTRL: 0x2,
  COMPRESSION: 0x4,
  /** `encapNum` is valid. Needed at RTR and at RTS. */
  ENCAP: 0x10,
} as const;

/** Capabilities of a port, to be or-ed: `setPortEx`'s `caps`. */
export const PortCaps = {
  /** Rendezvous, QMan and WTD; also needed for congestion-control completion queues. */
  ADVANCED: 0x1,
  ADAPTIVE_TIMEOUT: 0x2,
} as const;

/** Where the memory of work queues lies. */
export const MemId = { HOST: 1, DEVICE: 2 } as const;

/** The arrays of `setPortEx`'s `wqArrAttr` by their index; the others are reserved. */
export const WqArrayType = { GENERIC: 0 } as const;

/** The size of an entry of a send work queue: of a linear, or of a multi-stride write. */
export const SwqGranularity = { GRAN_32B: 0, GRAN_64B: 1 } as const;

/** The operation mode of a user FIFO. */
export const UsrFifoType = {
  /** Direct doorbells of the user. */
  DB: 0,
  /** Congestion control. */
  CC: 1,
} as const;

/** What a queue pair's work queue is for, to be or-ed: WRITE with RECV_RDV or with READ_RDV, the others alone. */
export const QpWqTypes = { WRITE: 0x1, RECV_RDV: 0x2, READ_RDV: 0x4, SEND_RDV: 0x8, READ_RDV_ENDP: 0x10 } as const;

/** What a completion queue is for. */
export const CqType = { QP: 0, CC: 1 } as const;

/** `enum hbldv_encap_type`. */
export const EncapType = {
  /** No tunnelling. */
  NO_ENC: 0,
  /** The RDMA packets go through the L3 layer: IPv4 with a protocol number, the header, the packet. */
  ENC_OVER_IPV4: 1,
  /** The RDMA packets go through the L4 layer: UDP to a port, the header, the packet. */
  ENC_OVER_UDP: 2,
} as const;

/** `queryDevice`'s `caps`. */
export const DeviceCaps = { CC: 1 } as const;

/** A `pathMtu` beyond core's `Mtu`. The software model uses its largest, 4096 bytes, for it. */
export const MTU_8192 = 6;
