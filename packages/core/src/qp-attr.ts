import { type AhAttr, type FullAhAttr, nativeAhAttr, publicAhAttr } from './ah-attr.js';
import { QpAttrMask } from './enums.js';
import type { NativeAhAttr, NativeCap, NativeQpAttr } from './native.js';
import { nativeCap, type QpCap } from './qp-init-attr.js';
import { integer, object } from './validate.js';

/** `struct ibv_qp_attr`: the fields that are given are the ones that change, as the C call's mask says. */
export interface QpAttr {
  /** See {@link QpState}. */
  qpState?: number;
  /** Asserts the state before the change. */
  curQpState?: number;
  /** See {@link Mtu}. */
  pathMtu?: number;
  /** See {@link MigState}. */
  pathMigState?: number;
  /** UD: 32 bits. */
  qkey?: number;
  /** The first packet sequence number that the peer sends: 24 bits. */
  rqPsn?: number;
  /** The first packet sequence number that this side sends: 24 bits. */
  sqPsn?: number;
  /** The peer's queue pair: 24 bits. */
  destQpNum?: number;
  /** What the peer may do: {@link AccessFlags}. */
  qpAccessFlags?: number;
  cap?: QpCap;
  ahAttr?: AhAttr;
  /** The alternate path is set by its four fields together. */
  altAhAttr?: AhAttr;
  altPkeyIndex?: number;
  altPortNum?: number;
  altTimeout?: number;
  pkeyIndex?: number;
  enSqdAsyncNotify?: number;
  /** RDMA reads and atomics outstanding as requester: 0 to 255. */
  maxRdAtomic?: number;
  /** The same as responder. */
  maxDestRdAtomic?: number;
  /** The code of the delay that an RNR NAK asks for: 0 to 31. */
  minRnrTimer?: number;
  portNum?: number;
  /** How long to wait for an acknowledgement: 4.096 µs · 2^n, 0 to 31; 0 waits forever. */
  timeout?: number;
  /** Repetitions after timeouts: 0 to 7. */
  retryCnt?: number;
  /** Repetitions after RNR NAKs: 0 to 7; 7 repeats forever. */
  rnrRetry?: number;
  /** kbit/s. */
  rateLimit?: number;
}

/** As `qp.query()` gives it. */
export type FullQpAttr = Required<Omit<QpAttr, 'cap' | 'ahAttr' | 'altAhAttr'>> & {
  sqDraining: number;
  cap: Required<QpCap>;
  ahAttr: FullAhAttr;
  altAhAttr: FullAhAttr;
};

const U32 = 0xffffffff;

/** Each plain field's bit in the mask and its largest value. */
const fields: Readonly<Record<string, readonly [mask: number, max: number]>> = {
  qpState: [QpAttrMask.STATE, 7],
  curQpState: [QpAttrMask.CUR_STATE, 7],
  pathMtu: [QpAttrMask.PATH_MTU, 5],
  pathMigState: [QpAttrMask.PATH_MIG_STATE, 2],
  qkey: [QpAttrMask.QKEY, U32],
  rqPsn: [QpAttrMask.RQ_PSN, 0xffffff],
  sqPsn: [QpAttrMask.SQ_PSN, 0xffffff],
  destQpNum: [QpAttrMask.DEST_QPN, 0xffffff],
  qpAccessFlags: [QpAttrMask.ACCESS_FLAGS, 0x7fffffff],
  pkeyIndex: [QpAttrMask.PKEY_INDEX, 0xffff],
  altPkeyIndex: [QpAttrMask.ALT_PATH, 0xffff],
  enSqdAsyncNotify: [QpAttrMask.EN_SQD_ASYNC_NOTIFY, 1],
  maxRdAtomic: [QpAttrMask.MAX_QP_RD_ATOMIC, 255],
  maxDestRdAtomic: [QpAttrMask.MAX_DEST_RD_ATOMIC, 255],
  minRnrTimer: [QpAttrMask.MIN_RNR_TIMER, 31],
  portNum: [QpAttrMask.PORT, 255],
  timeout: [QpAttrMask.TIMEOUT, 31],
  retryCnt: [QpAttrMask.RETRY_CNT, 7],
  rnrRetry: [QpAttrMask.RNR_RETRY, 7],
  altPortNum: [QpAttrMask.ALT_PATH, 255],
  altTimeout: [QpAttrMask.ALT_PATH, 31],
  rateLimit: [QpAttrMask.RATE_LIMIT, U32],
};
const names = [...Object.keys(fields), 'cap', 'ahAttr', 'altAhAttr'];

/** Checks every field by its path, and finds the mask. */
export function nativeQpAttr(value: unknown, path: string): { attr: NativeQpAttr; mask: number } {
  const given = object(value, path, names);
  const attr: NativeQpAttr = {};
  let mask = 0;
  for (const [name, [bit, max]] of Object.entries(fields)) {
    const field = given[name];
    if (field === undefined) continue;
    attr[name] = integer(field, `${path}.${name}`, 0, max);
    mask |= bit;
  }
  if (given['cap'] !== undefined) {
    attr['cap'] = nativeCap(given['cap'], `${path}.cap`);
    mask |= QpAttrMask.CAP;
  }
  if (given['ahAttr'] !== undefined) {
    attr['ahAttr'] = nativeAhAttr(given['ahAttr'], `${path}.ahAttr`);
    mask |= QpAttrMask.AV;
  }
  if (given['altAhAttr'] !== undefined) {
    attr['altAhAttr'] = nativeAhAttr(given['altAhAttr'], `${path}.altAhAttr`);
    mask |= QpAttrMask.ALT_PATH;
  }
  return { attr, mask };
}

export function publicQpAttr(attr: NativeQpAttr): FullQpAttr {
  const { cap, ahAttr, altAhAttr, ...plain } = attr;
  return {
    ...(plain as Omit<FullQpAttr, 'cap' | 'ahAttr' | 'altAhAttr'>),
    cap: cap as NativeCap,
    ahAttr: publicAhAttr(ahAttr as Required<NativeAhAttr>),
    altAhAttr: publicAhAttr(altAhAttr as Required<NativeAhAttr>),
  };
}
