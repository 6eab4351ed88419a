import type { AddressHandle } from './address-handle.js';
import type { MwBindInfo } from './bind-info.js';
import type { WrOpcode } from './enums.js';
import type { MemoryRegion } from './memory-region.js';
import type { MemoryWindow } from './memory-window.js';

/** `struct ibv_sge`: a part of a memory region. Bounds are checked when it is posted. */
export interface Sge {
  mr: MemoryRegion;
  /** Bytes from the region's start, default 0. */
  offset?: number;
  /** Bytes, default up to the region's end. An element of 0 bytes is left out. */
  length?: number;
}

interface Request {
  /** Comes back in the completion, as it is given here. Default 0. */
  wrId?: bigint | number;
  /** Gathered on sending, scattered on receiving. Default none: a message of 0 bytes. */
  sgList?: readonly Sge[];
}

interface SendBase extends Request {
  /** See {@link SendFlags}. Without SIGNALED there is no completion unless it fails (or the QP has sqSigAll). */
  sendFlags?: number;
}

/** Where a UD datagram goes; other queue pairs know their peer. */
interface Datagram {
  ah?: AddressHandle;
  /** 24 bits. */
  remoteQpn?: number;
  /** 32 bits; must equal the receiver's qkey. */
  remoteQkey?: number;
}

interface Remote {
  /** An address in the peer's memory region: its `addr` and an offset. */
  remoteAddr: bigint | number;
  /** The region's rkey. */
  rkey: number;
}

type Opcode = typeof WrOpcode;

/** XRC: which of the peer's shared receive queues takes the message. */
interface Shared {
  /** 24 bits: `srq.srqNum` of the peer. */
  remoteSrqn?: number;
}

export interface SendRequest extends SendBase, Datagram, Shared {
  opcode: Opcode['SEND'];
}
export interface SendWithImmRequest extends SendBase, Datagram, Shared {
  opcode: Opcode['SEND_WITH_IMM'];
  /** 32 bits for the receiver's `immData`: a number here as there, in network order on the wire. */
  immData: number;
}
export interface SendWithInvRequest extends SendBase, Shared {
  opcode: Opcode['SEND_WITH_INV'];
  /** The receiver's rkey that this invalidates. */
  invalidateRkey: number;
}
export interface RdmaWriteRequest extends SendBase, Remote, Shared {
  opcode: Opcode['RDMA_WRITE'];
}
export interface RdmaWriteWithImmRequest extends SendBase, Remote, Shared {
  opcode: Opcode['RDMA_WRITE_WITH_IMM'];
  immData: number;
}
export interface RdmaReadRequest extends SendBase, Remote, Shared {
  opcode: Opcode['RDMA_READ'];
}
export interface CompareAndSwapRequest extends SendBase, Remote, Shared {
  opcode: Opcode['ATOMIC_CMP_AND_SWP'];
  compare: bigint | number;
  swap: bigint | number;
}
export interface FetchAndAddRequest extends SendBase, Remote, Shared {
  opcode: Opcode['ATOMIC_FETCH_AND_ADD'];
  add: bigint | number;
}
export interface LocalInvRequest extends SendBase {
  opcode: Opcode['LOCAL_INV'];
  invalidateRkey: number;
}
export interface BindMwRequest extends SendBase {
  opcode: Opcode['BIND_MW'];
  /** A window of type 2. */
  mw: MemoryWindow;
  /** Its new rkey: `mw.nextRkey()`. */
  rkey: number;
  bindInfo: MwBindInfo;
}
export interface AtomicWriteRequest extends SendBase, Remote, Shared {
  opcode: Opcode['ATOMIC_WRITE'];
  /** One element of 8 bytes. */
  sgList: readonly Sge[];
}

/** `struct ibv_send_wr`: the opcode says which fields there are. */
export type SendWr =
  | SendRequest
  | SendWithImmRequest
  | SendWithInvRequest
  | RdmaWriteRequest
  | RdmaWriteWithImmRequest
  | RdmaReadRequest
  | CompareAndSwapRequest
  | FetchAndAddRequest
  | LocalInvRequest
  | BindMwRequest
  | AtomicWriteRequest;

/** `struct ibv_recv_wr`. For UD the buffer needs 40 bytes more than the payload, in front of it. */
export type RecvWr = Request;
