import type { AccessFlags, MigState, Mtu, QpState } from '../enums/index.js';
import type { AhAttr, FullAhAttr } from './ah-attr.js';

/** `struct ibv_qp_cap`: the capacities of a queue pair. The device may grant more. */
export interface QpCap {
  /** Outstanding send requests. */
  maxSendWr: number;
  /** Outstanding receive requests; 0 with an indirection table. */
  maxRecvWr: number;
  /** Elements of a send request, default 1. */
  maxSendSge?: number;
  /** Elements of a receive request, default 1; 0 with an indirection table, whose queues have their own. */
  maxRecvSge?: number;
  /** Bytes that SendFlags.INLINE may carry, default 0. */
  maxInlineData?: number;
}

/** `struct ibv_qp_attr`: the given fields change; the C call's mask follows from them. */
export interface QpAttr {
  /** The new state: see {@link QpState}. */
  qpState?: QpState;
  /** Asserts the state before the change; see {@link QpState}. */
  curQpState?: QpState;
  /** The largest packet, at most `activeMtu` of both ports: see {@link Mtu}. */
  pathMtu?: Mtu;
  /** Moves to the alternate path, or arms it: see {@link MigState}. */
  pathMigState?: MigState;
  /** UD: datagrams must carry it, 32 bits. */
  qkey?: number;
  /** The first packet sequence number that the peer sends: 24 bits. */
  rqPsn?: number;
  /** The first packet sequence number that this side sends: 24 bits. */
  sqPsn?: number;
  /** The peer's queue pair: 24 bits. */
  destQpNum?: number;
  /** The peer's rights: {@link AccessFlags}. */
  qpAccessFlags?: AccessFlags;
  /** Other capacities, where the device has DeviceCapFlags.RESIZE_MAX_WR. */
  cap?: QpCap;
  /** The path to the peer, of a connected queue pair. */
  ahAttr?: AhAttr;
  /** The alternate path. Its four fields are set together. */
  altAhAttr?: AhAttr;
  /** The `pkeyIndex` of the alternate path. */
  altPkeyIndex?: number;
  /** The `portNum` of the alternate path. */
  altPortNum?: number;
  /** The `timeout` of the alternate path. */
  altTimeout?: number;
  /** Which of the port's partition keys: an index, 0 to 65535. */
  pkeyIndex?: number;
  /** On the way to SQD: 1 asks for the event SQ_DRAINED, 0 does not. */
  enSqdAsyncNotify?: number;
  /** RDMA reads and atomics on their way from this side at a time: 0 to 255. */
  maxRdAtomic?: number;
  /** RDMA reads and atomics of the peer that this side serves at a time: 0 to 255. */
  maxDestRdAtomic?: number;
  /**
   * How long a peer waits before it retransmits a message that found no receive request, as a code: 1 is 10 µs, 12 is
   * 0.64 ms, 31 is 491 ms, 0 is 655 ms.
   */
  minRnrTimer?: number;
  /** The local port, from 1. */
  portNum?: number;
  /** How long to wait for an acknowledgement: 4.096 µs · 2^n, 0 to 31; 0 waits forever. */
  timeout?: number;
  /** Retransmissions after timeouts: 0 to 7. */
  retryCnt?: number;
  /** Retransmissions while the peer has no receive request (RNR NAK): 0 to 7; 7 means no limit. */
  rnrRetry?: number;
  /** Packet pacing of RAW_PACKET: kbit/s, 0 for none. */
  rateLimit?: number;
}

/** The result of `qp.query()`. */
export type FullQpAttr = Required<Omit<QpAttr, 'cap' | 'ahAttr' | 'altAhAttr'>> & {
  /** 1 while the send queue drains (SQD), else 0. */
  sqDraining: number;
  /** The capacities that the device granted, at least the requested ones. */
  cap: Required<QpCap>;
  /** The path to the peer; all zero if there is none. */
  ahAttr: FullAhAttr;
  /** The alternate path; all zero if there is none. */
  altAhAttr: FullAhAttr;
};
