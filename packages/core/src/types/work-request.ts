import type { AccessFlags, PlacementType, QpType, SelectivityLevel, SendFlags, WrOpcode } from '../enums/index.js';
import type { Among } from '../enums/members.js';
import type { AddressHandle, MemoryRegion, MemoryWindow } from './objects.js';

/** `struct ibv_sge`: a part of a memory region. Bounds are checked when it is posted. */
export interface Sge {
  /** The region; the device gets its lkey. It needs LOCAL_WRITE if the request writes to it. */
  mr: MemoryRegion;
  /** Bytes from the region's start, default 0. */
  offset?: number;
  /** Bytes, default up to the region's end. An element of 0 bytes is left out. */
  length?: number;
}

/** The fields of every work request. */
export interface WorkRequest {
  /** Comes back in the completion, as it is given here. Default 0. */
  wrId?: bigint | number;
  /** Gathered on sending, scattered on receiving. Default none: a message of 0 bytes. */
  sgList?: readonly Sge[];
}

interface SendBase extends WorkRequest {
  /** See {@link SendFlags}. Without SIGNALED there is no completion unless it fails (or the QP has sqSigAll). */
  sendFlags?: SendFlags;
}

/** Where a UD datagram goes; other queue pairs know their peer. */
interface Datagram {
  /** The way to the receiver; required on UD, as the next two. */
  ah?: AddressHandle;
  /** The receiver's queue pair, 24 bits. */
  remoteQpn?: number;
  /** 32 bits; must equal the receiver's qkey. */
  remoteQkey?: number;
}

/**
 * Memory of a peer, as {@link MemoryRegion.remote} gives it: plain values, which JSON can carry. A request takes it as
 * `remote`.
 */
export interface RemoteRegion {
  /** The address of the first byte: `0x` and hexadecimal digits (a JSON number has 53 bits), or a bigint or a number. */
  addr: string | bigint | number;
  /** The key, 32 bits. */
  rkey: number;
  /** Bytes. */
  length: number;
}

/** `struct ibv_mw_bind_info`: the part of a region that a memory window opens, and a peer's rights there. */
export interface MwBindInfo {
  /** A region created with AccessFlags.MW_BIND. Left out, the window is unbound. */
  mr?: MemoryRegion;
  /** Bytes from the region's start, default 0. */
  offset?: number;
  /** Bytes, default up to the region's end. */
  length?: number;
  /** See {@link AccessFlags}; default 0. Writing and atomics need LOCAL_WRITE on the region. */
  access?: AccessFlags;
}

/** Memory of the peer: a region as the peer sent it, or an address and a key. */
export type Remote =
  | {
      /** The region: what `mr.remote()` of the peer gave. */
      remote: RemoteRegion;
      /** Bytes from the region's start, default 0. */
      remoteOffset?: number;
      /** Missing. */
      remoteAddr?: never;
      /** Missing. */
      rkey?: never;
    }
  | {
      /** An address in the peer's memory region: its `addr` and an offset. */
      remoteAddr: bigint | number;
      /** The region's rkey. */
      rkey: number;
      /** Missing. */
      remote?: never;
      /** Missing. */
      remoteOffset?: never;
    };

type Opcode = typeof WrOpcode;

/** XRC: which of the peer's shared receive queues takes the message. */
interface Shared {
  /** 24 bits: `srq.srqNum` of the peer. */
  remoteSrqn?: number;
}

/**
 * IBV_WR_SEND: a message for the peer's next receive request. On RC, UC, UD and XRC.
 *
 * @example qp.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList: [{ mr, length: 64 }] });
 * @example qp.postSend({ opcode: WrOpcode.SEND, ah, remoteQpn: 17, remoteQkey: 0x11111111, sgList: [{ mr }] }); // UD
 */
export interface SendRequest extends SendBase, Datagram, Shared {
  /** WrOpcode.SEND: distinguishes this request from the others. */
  opcode: Opcode['SEND'];
}
/** IBV_WR_SEND_WITH_IMM: the same, with 32 bits for the receiver's completion (WcFlags.WITH_IMM). */
export interface SendWithImmRequest extends SendBase, Datagram, Shared {
  /** WrOpcode.SEND_WITH_IMM: distinguishes this request from the others. */
  opcode: Opcode['SEND_WITH_IMM'];
  /** 32 bits for the receiver's `immData`: a number here as there, in network order on the wire. */
  immData: number;
}
/**
 * IBV_WR_SEND_WITH_INV: the same, and the receiver's device invalidates a key of its own before it completes. RC and
 * XRC.
 */
export interface SendWithInvRequest extends SendBase, Shared {
  /** WrOpcode.SEND_WITH_INV: distinguishes this request from the others. */
  opcode: Opcode['SEND_WITH_INV'];
  /** The receiver's rkey that this invalidates. */
  invalidateRkey: number;
}
/**
 * IBV_WR_RDMA_WRITE: into the peer's memory, which needs REMOTE_WRITE; the peer's program notices nothing. RC, UC, XRC.
 *
 * @example
 * const region = JSON.parse(text) as RemoteRegion; // JSON.stringify(mr.remote()) of the peer
 * qp.postSend({ opcode: WrOpcode.RDMA_WRITE, sgList: [{ mr, length: 64 }], remote: region, remoteOffset: 128 });
 * @example qp.postSend({ opcode: WrOpcode.RDMA_WRITE, sgList: [{ mr }], remoteAddr: peer.addr, rkey: peer.rkey });
 */
export type RdmaWriteRequest = SendBase &
  Remote &
  Shared & {
    /** WrOpcode.RDMA_WRITE: distinguishes this request from the others. */
    opcode: Opcode['RDMA_WRITE'];
  };
/**
 * IBV_WR_RDMA_WRITE_WITH_IMM: the same, and it consumes a receive request of the peer, whose completion has `immData`.
 */
export type RdmaWriteWithImmRequest = SendBase &
  Remote &
  Shared & {
    /** WrOpcode.RDMA_WRITE_WITH_IMM: distinguishes this request from the others. */
    opcode: Opcode['RDMA_WRITE_WITH_IMM'];
    /** 32 bits for the receiver's `immData`. */
    immData: number;
  };
/**
 * IBV_WR_RDMA_READ: out of the peer's memory, which needs REMOTE_READ, into `sgList`. RC and XRC; at most `maxRdAtomic`
 * of them and of atomics are on their way at a time, the others wait in the queue.
 */
export type RdmaReadRequest = SendBase &
  Remote &
  Shared & {
    /** WrOpcode.RDMA_READ: distinguishes this request from the others. */
    opcode: Opcode['RDMA_READ'];
  };
/**
 * IBV_WR_ATOMIC_CMP_AND_SWP: if the 8 bytes at `remoteAddr` (a multiple of 8, in the peer's byte order) equal
 * `compare`, `swap` takes their place. Their former value arrives in `sgList`, one element of 8 bytes. The peer's
 * region needs REMOTE_ATOMIC. RC and XRC.
 */
export type CompareAndSwapRequest = SendBase &
  Remote &
  Shared & {
    /** WrOpcode.ATOMIC_CMP_AND_SWP: distinguishes this request from the others. */
    opcode: Opcode['ATOMIC_CMP_AND_SWP'];
    /** The expected value, 64 bits. */
    compare: bigint | number;
    /** The value that replaces it, 64 bits. */
    swap: bigint | number;
  };
/** IBV_WR_ATOMIC_FETCH_AND_ADD: adds to the 8 bytes at `remoteAddr`, else as {@link CompareAndSwapRequest}. */
export type FetchAndAddRequest = SendBase &
  Remote &
  Shared & {
    /** WrOpcode.ATOMIC_FETCH_AND_ADD: distinguishes this request from the others. */
    opcode: Opcode['ATOMIC_FETCH_AND_ADD'];
    /** The addend, 64 bits. The sum wraps around, so that 2n ** 64n - 1n takes one away. */
    add: bigint | number;
  };
/** IBV_WR_LOCAL_INV: invalidates a key of this side: of a memory window of type 2 that is bound to this queue pair. */
export interface LocalInvRequest extends SendBase {
  /** WrOpcode.LOCAL_INV: distinguishes this request from the others. */
  opcode: Opcode['LOCAL_INV'];
  /** The key, 32 bits: `mw.rkey`. */
  invalidateRkey: number;
}
/** IBV_WR_BIND_MW: opens a part of a region to this queue pair's peer, in the order of the requests. */
export interface BindMwRequest extends SendBase {
  /** WrOpcode.BIND_MW: distinguishes this request from the others. */
  opcode: Opcode['BIND_MW'];
  /** A window of type 2. */
  mw: MemoryWindow;
  /** Its new rkey: `mw.nextRkey()`. */
  rkey: number;
  /** The part of a region that the window opens, and what the peer may do there. */
  bindInfo: MwBindInfo;
}
/** IBV_WR_ATOMIC_WRITE: the 8 bytes at `remoteAddr` (a multiple of 8) change at once. RC. */
export type AtomicWriteRequest = SendBase &
  Remote &
  Shared & {
    /** WrOpcode.ATOMIC_WRITE: distinguishes this request from the others. */
    opcode: Opcode['ATOMIC_WRITE'];
    /** One element of 8 bytes. */
    sgList: readonly Sge[];
  };

/**
 * IBV_WR_FLUSH, by `ibv_wr_flush`: completes when earlier writes to the peer's memory have reached it, so that a crash of
 * the peer does not lose them (PERSISTENT), or others there see them (GLOBAL). The region needs the same right. RC and
 * XRC_SEND, on a queue pair with SendOpsFlags.FLUSH; libibverbs has it since release 45.
 *
 * @example
 * const remote = JSON.parse(text) as RemoteRegion; // JSON.stringify(mr.remote()) of the peer
 * qp.postSend({ opcode: WrOpcode.FLUSH, type: PlacementType.PERSISTENT, remote, length: 4096 });
 */
export type FlushRequest = Omit<SendBase, 'sgList'> &
  Remote &
  Shared & {
    /** WrOpcode.FLUSH: distinguishes this request from the others. */
    opcode: Opcode['FLUSH'];
    /** `type`: {@link PlacementType}, or-ed. */
    type: PlacementType;
    /** `len`: bytes from `remoteAddr` on, 32 bits; default 0, for SelectivityLevel.MR. */
    length?: number;
    /** `level`: see {@link SelectivityLevel}; default RANGE. */
    level?: SelectivityLevel;
    /** Missing: there is no data of this side. */
    sgList?: never;
  };

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
  | AtomicWriteRequest
  | FlushRequest;

/** `struct ibv_recv_wr`. For UD the buffer needs 40 bytes more than the payload, in front of it. */
export type RecvWr = WorkRequest;

/** The requests of a UD queue pair, each with its receiver. */
export type UdSendWr = (SendRequest | SendWithImmRequest) & Required<Datagram>;

/** The requests that a queue pair of type `T` takes: a UD queue pair only sends, everything else has a connection. */
export type SendWrOf<T extends number> = Among<T, typeof QpType.UD, UdSendWr, SendWr>;
