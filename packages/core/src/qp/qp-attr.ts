import { type Check, fields, maybe, member, u1, u16, u24, u3, u31, u32, u5, u8 } from '../base/fields.js';
import { flags, type Forms, hex, mtu, named, qpn, readable } from '../base/inspection.js';
import type { NativeAhAttr, NativeCap, NativeQpAttr } from '../base/native.js';
import { AccessFlags, MigState, Mtu, QpAttrMask, QpState } from '../enums/index.js';
import type { FullQpAttr, QpAttr } from '../types/qp-attr.js';
import { nativeAhAttr, publicAhAttr } from './ah-attr.js';
import { nativeCap } from './qp-init-attr.js';

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
