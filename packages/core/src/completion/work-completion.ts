import { inspect, type InspectOptions } from 'node:util';
import { flags, hex, named, present, qpn } from '../base/inspection.js';
import { native } from '../base/native.js';
import { COMPLETION, HAS_TAG, ID_IS_NUMBER } from '../base/records.js';
import { integer } from '../base/validate.js';
import { enumName, WcFlags, WcOpcode, WcStatus } from '../enums/index.js';
import { anyLibrary } from '../library/libraries.js';
import { statusHint } from '../reasons/status-hint.js';

/** `struct ibv_wc_tm_info`: what the header of a message says whose tag has matched. */
export interface WcTmInfo {
  /** The tag. */
  tag: bigint;
  /** `priv`: the sender's own 32 bits (`app_ctx`). */
  priv: number;
}

/**
 * `struct ibv_wc`: one completed work request. If `status` is not SUCCESS, only `wrId`, `status`, `qpNum` and
 * `vendorErr` are valid.
 */
export class WorkCompletion {
  /** The post call's value: a number stays a number, a bigint a bigint. */
  declare readonly wrId: bigint | number;
  /** See {@link WcStatus}. */
  declare readonly status: WcStatus;
  /** See {@link WcOpcode}. */
  declare readonly opcode: WcOpcode;
  /** 0 of a success. */
  declare readonly vendorErr: number;
  /** Bytes received or read; 0 of a SEND or a write. A UD receive counts the 40 bytes in front of the payload. */
  declare readonly byteLen: number;
  /** The peer's 32 bits as the number that it sent, if `wcFlags` has WITH_IMM. */
  declare readonly immData: number;
  /** The queue pair of this side: for a receive from a shared queue, the one that received it. */
  declare readonly qpNum: number;
  /** UD: the sender's queue pair. */
  declare readonly srcQp: number;
  /** See {@link WcFlags}. */
  declare readonly wcFlags: WcFlags;
  /**
   * UD: which of the port's partition keys it carried, an index; many devices set it for management queue pairs only.
   */
  declare readonly pkeyIndex: number;
  /** UD: the sender's LID on InfiniBand. */
  declare readonly slid: number;
  /** UD: the service level. */
  declare readonly sl: number;
  /** UD: the low bits of the LID that it was sent to, on InfiniBand. */
  declare readonly dlidPathBits: number;
  /** The tag of the flow that brought the packet, of a queue created with WcExFlags.FLOW_TAG; else 0. */
  declare readonly flowTag: number;
  /** Ticks of the device's clock, of a queue created with WcExFlags.COMPLETION_TIMESTAMP; else 0n. */
  declare readonly completionTimestamp: bigint;
  /** Nanoseconds since 1970, of a queue created with WcExFlags.COMPLETION_TIMESTAMP_WALLCLOCK; else 0n. */
  declare readonly completionWallclockNs: bigint;

  /** The message's tag, where `wcFlags` has TM_MATCH, of a queue created with WcExFlags.TM_INFO; else undefined. */
  declare readonly tmInfo: WcTmInfo | undefined;

  /** @internal `wrId`: the program's, of a request that was posted with another one in its place. */
  constructor(view: DataView, offset: number, timestamps: boolean, wrId: bigint | number = readWrId(view, offset)) {
    this.wrId = wrId;
    this.status = view.getUint32(offset + COMPLETION.STATUS, true);
    this.opcode = view.getUint32(offset + COMPLETION.OPCODE, true);
    // One field for both.
    const detail = view.getUint32(offset + COMPLETION.VENDOR_ERR, true);
    const failed = this.status !== WcStatus.SUCCESS;
    const tagged = (view.getUint16(offset + COMPLETION.FLAGS, true) & HAS_TAG) !== 0;
    this.vendorErr = failed ? detail : 0;
    this.flowTag = failed || tagged ? 0 : detail;
    this.byteLen = view.getUint32(offset + COMPLETION.BYTE_LEN, true);
    this.immData = view.getUint32(offset + COMPLETION.IMM_DATA, true);
    this.qpNum = view.getUint32(offset + COMPLETION.QP_NUM, true);
    this.srcQp = tagged ? 0 : view.getUint32(offset + COMPLETION.SRC_QP, true);
    this.wcFlags = view.getUint32(offset + COMPLETION.WC_FLAGS, true);
    this.pkeyIndex = tagged ? 0 : view.getUint16(offset + COMPLETION.PKEY_INDEX, true);
    this.slid = tagged ? 0 : view.getUint16(offset + COMPLETION.SLID, true);
    this.sl = view.getUint8(offset + COMPLETION.SL);
    this.dlidPathBits = view.getUint8(offset + COMPLETION.DLID_PATH_BITS);
    this.completionTimestamp = timestamps ? view.getBigUint64(offset + COMPLETION.TIMESTAMP, true) : 0n;
    this.completionWallclockNs = timestamps ? view.getBigUint64(offset + COMPLETION.WALLCLOCK_NS, true) : 0n;
    this.tmInfo = tagged ? { tag: readTag(view, offset), priv: detail } : undefined;
  }

  /** The rkey that a SEND_WITH_INV of the peer invalidated, if `wcFlags` has WITH_INV: the same field in C. */
  get invalidatedRkey(): number {
    return this.immData;
  }

  /** Whether `status` is SUCCESS. Of a failed one only `wrId`, `status`, `qpNum` and `vendorErr` are valid. */
  get ok(): boolean {
    return this.status === WcStatus.SUCCESS;
  }

  /** `ibv_wc_status_str`. */
  get statusText(): string {
    return wcStatusText(this.status);
  }

  /** The name of `status` in {@link WcStatus}: 'RETRY_EXC_ERR'. */
  get statusName(): string {
    return enumName(WcStatus, this.status);
  }

  /**
   * What to look at first, of a failed one; undefined for SUCCESS, and where there is nothing to say.
   *
   * @example for (const wc of cq.poll()) if (!wc.ok) console.error(`${wc.statusText}: ${wc.statusHint}`);
   */
  get statusHint(): string | undefined {
    return statusHint(this.status);
  }

  /** The name of `opcode` in {@link WcOpcode}: 'RECV'. */
  get opcodeName(): string {
    return enumName(WcOpcode, this.opcode);
  }

  /**
   * The valid fields, for `JSON.stringify`: `status` and `opcode` by their names, and bigints as decimal text.
   *
   * @example JSON.stringify(wc); // {"wrId":7,"status":"SUCCESS","opcode":"RECV","byteLen":64,"qpNum":17}
   */
  toJSON(): Record<string, number | string> {
    const { wrId, qpNum, statusName: status } = this;
    const all = this.ok
      ? { wrId, status, opcode: this.opcodeName, byteLen: this.byteLen, qpNum, ...extrasOf(this) }
      : { wrId, status, statusText: this.statusText, qpNum, vendorErr: this.vendorErr };
    const plain = (value: unknown) => (typeof value === 'bigint' ? String(value) : value);
    return Object.fromEntries(Object.entries(present(all)).map(([name, value]) => [name, plain(value)])) as never;
  }

  /** The valid fields, for `util.inspect` and `console.log`. */
  [inspect.custom](depth: number, options: InspectOptions = {}): string {
    if (depth < 0) return '[WorkCompletion]';
    try {
      return `WorkCompletion ${inspect(fieldsOf(this), { ...options, depth })}`;
    } catch {
      // The program replaced a field.
      return inspect(this, { ...options, depth, customInspect: false });
    }
  }
}

/** The valid fields. */
function fieldsOf(wc: WorkCompletion): Record<string, unknown> {
  const { wrId, vendorErr, byteLen } = wc;
  const status = named(WcStatus, wc.status);
  if (!wc.ok) return { wrId, status, qpNum: qpn(wc.qpNum), vendorErr: hex(vendorErr) };
  const extras = extrasOf(wc);
  return present({
    wrId,
    status,
    opcode: named(WcOpcode, wc.opcode),
    byteLen,
    qpNum: qpn(wc.qpNum),
    ...extras,
    wcFlags: extras.wcFlags && flags(WcFlags, extras.wcFlags),
    immData: extras.immData === undefined ? undefined : hex(extras.immData, 8),
    invalidatedRkey: extras.invalidatedRkey === undefined ? undefined : hex(extras.invalidatedRkey),
    srcQp: extras.srcQp === undefined ? undefined : qpn(extras.srcQp),
  });
}

/** The fields that only some successes have; undefined where this one has none. */
function extrasOf({ wcFlags, immData, srcQp, slid, sl, flowTag, ...wc }: WorkCompletion) {
  const has = <T>(flag: number, value: T) => ((wcFlags & flag) === 0 ? undefined : value);
  return {
    wcFlags: wcFlags === 0 ? undefined : wcFlags,
    immData: has(WcFlags.WITH_IMM, immData),
    invalidatedRkey: has(WcFlags.WITH_INV, immData),
    srcQp: has(WcFlags.GRH, srcQp),
    slid: slid === 0 ? undefined : slid,
    sl: sl === 0 ? undefined : sl,
    flowTag: flowTag === 0 ? undefined : flowTag,
    tag: wc.tmInfo?.tag,
    priv: wc.tmInfo?.priv,
    completionTimestamp: wc.completionTimestamp === 0n ? undefined : wc.completionTimestamp,
    completionWallclockNs: wc.completionWallclockNs === 0n ? undefined : wc.completionWallclockNs,
  };
}

/** A tag lies in fields that only datagrams have. */
function readTag(view: DataView, offset: number): bigint {
  const high = view.getUint32(offset + COMPLETION.PKEY_INDEX, true);
  return (BigInt(high) << 32n) | BigInt(view.getUint32(offset + COMPLETION.SRC_QP, true));
}

function readWrId(view: DataView, offset: number): bigint | number {
  const isNumber = (view.getUint16(offset + COMPLETION.FLAGS, true) & ID_IS_NUMBER) !== 0;
  const at = offset + COMPLETION.WR_ID;
  if (!isNumber) return view.getBigUint64(at, true);
  return view.getUint32(at, true) + view.getUint32(at + 4, true) * 0x1_0000_0000;
}

/**
 * `ibv_wc_status_str`: the meaning of a {@link WcStatus}; its name where there is no library.
 *
 * @example wcStatusText(WcStatus.RETRY_EXC_ERR); // 'transport retry counter exceeded'
 */
export function wcStatusText(status: WcStatus): string {
  integer(status, 'status', -0x80000000, 0x7fffffff);
  const library = anyLibrary();
  return library === undefined ? enumName(WcStatus, status) : native.wcStatusText(library, status);
}
