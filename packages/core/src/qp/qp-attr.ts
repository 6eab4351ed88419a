import { type Check, fields, maybe, member, u1, u16, u24, u3, u31, u32, u5, u8 } from '../base/fields.js';
import { flags, type Forms, hex, mtu, named, qpn, readable } from '../base/inspection.js';
import type { NativeAhAttr, NativeCap, NativeQpAttr } from '../base/native.js';
import { AccessFlags, MigState, Mtu, QpAttrMask, QpState } from '../enums/index.js';
import { type AhAttr, type FullAhAttr, nativeAhAttr, publicAhAttr } from './ah-attr.js';
import { nativeCap, type QpCap } from './qp-init-attr.js';

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

/** Each field's bit in the mask, and its check. */
const table: Readonly<Record<keyof QpAttr, readonly [bit: number, check: Check<NativeQpAttr[string]>]>> = {
  qpState: [QpAttrMask.STATE, u3()],
  curQpState: [QpAttrMask.CUR_STATE, u3()],
  pathMtu: [QpAttrMask.PATH_MTU, member(Mtu, 'Mtu')],
  pathMigState: [QpAttrMask.PATH_MIG_STATE, member(MigState, 'MigState')],
  qkey: [QpAttrMask.QKEY, u32()],
  rqPsn: [QpAttrMask.RQ_PSN, u24()],
  sqPsn: [QpAttrMask.SQ_PSN, u24()],
  destQpNum: [QpAttrMask.DEST_QPN, u24()],
  qpAccessFlags: [QpAttrMask.ACCESS_FLAGS, u31()],
  pkeyIndex: [QpAttrMask.PKEY_INDEX, u16()],
  altPkeyIndex: [QpAttrMask.ALT_PATH, u16()],
  enSqdAsyncNotify: [QpAttrMask.EN_SQD_ASYNC_NOTIFY, u1()],
  maxRdAtomic: [QpAttrMask.MAX_QP_RD_ATOMIC, u8()],
  maxDestRdAtomic: [QpAttrMask.MAX_DEST_RD_ATOMIC, u8()],
  minRnrTimer: [QpAttrMask.MIN_RNR_TIMER, u5()],
  portNum: [QpAttrMask.PORT, u8()],
  timeout: [QpAttrMask.TIMEOUT, u5()],
  retryCnt: [QpAttrMask.RETRY_CNT, u3()],
  rnrRetry: [QpAttrMask.RNR_RETRY, u3()],
  altPortNum: [QpAttrMask.ALT_PATH, u8()],
  altTimeout: [QpAttrMask.ALT_PATH, u5()],
  rateLimit: [QpAttrMask.RATE_LIMIT, u32()],
  cap: [QpAttrMask.CAP, nativeCap],
  ahAttr: [QpAttrMask.AV, (value, path) => nativeAhAttr(value, path)],
  altAhAttr: [QpAttrMask.ALT_PATH, (value, path) => nativeAhAttr(value, path)],
};

const attributes = fields(Object.fromEntries(Object.entries(table).map(([name, [, check]]) => [name, maybe(check)])));

/** Checks every field by its path, and finds the mask. */
export function nativeQpAttr(
  value: unknown,
  path: string,
): {
  /** The fields that were given. */
  attr: NativeQpAttr;
  /** Their bits: {@link QpAttrMask}. */
  mask: number;
} {
  const attr = attributes(value, path) as NativeQpAttr;
  let mask = 0;
  for (const name of Object.keys(attr)) mask |= table[name as keyof QpAttr][0];
  return { attr, mask };
}

const forms: Forms<FullQpAttr> = {
  qpState: (value) => named(QpState, value),
  curQpState: (value) => named(QpState, value),
  pathMtu: mtu,
  pathMigState: (value) => named(MigState, value),
  qkey: hex,
  rqPsn: qpn,
  sqPsn: qpn,
  destQpNum: qpn,
  qpAccessFlags: (value) => flags(AccessFlags, value),
};

/** The attributes as programs have them, of those that `write_qp_attr` gave. */
export function publicQpAttr(attr: NativeQpAttr): FullQpAttr {
  const { cap, ahAttr, altAhAttr, ...plain } = attr;
  const full = {
    ...(plain as Omit<FullQpAttr, 'cap' | 'ahAttr' | 'altAhAttr'>),
    cap: cap as NativeCap,
    ahAttr: publicAhAttr(ahAttr as Required<NativeAhAttr>),
    altAhAttr: publicAhAttr(altAhAttr as Required<NativeAhAttr>),
  };
  return readable(full, forms);
}
