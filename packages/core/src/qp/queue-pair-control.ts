import { errno } from '../base/errno.js';
import { check, checked, closedError, VerbsError } from '../base/errors.js';
import { fields, or, u16, u32 } from '../base/fields.js';
import { type Gid, gidBytes } from '../base/gid.js';
import { brief, named, present, qpn } from '../base/inspection.js';
import { native, type NativeQp } from '../base/native.js';
import { kAbandon, kElement, kSeeState, kState } from '../base/symbols.js';
import { integer, optional } from '../base/validate.js';
import type { CompletionQueue } from '../completion/completion-queue.js';
import type { Context } from '../device/context.js';
import type { ProtectionDomain } from '../device/protection-domain.js';
import { qpStates } from '../diagnostics/channels.js';
import type { QpStateMessage } from '../diagnostics/messages.js';
import { QpAttrMask, QpState, QpType, type WrOpcode } from '../enums/index.js';
import { Resource } from '../lifetime/resource.js';
import { type ActivateOptions, activateSteps, type ConnectOptions, connectSteps } from './connect.js';
import { KnownState } from './known-state.js';
import { type FullQpAttr, nativeQpAttr, publicQpAttr } from './qp-attr.js';
import type { QpCap, QpInitAttr } from './qp-init-attr.js';
import type { QpModify } from './qp-transition.js';
import type { SharedReceiveQueue } from './shared-receive-queue.js';

const CONNECTED: ReadonlySet<number> = new Set([QpType.RC, QpType.UC, QpType.XRC_SEND, QpType.XRC_RECV]);

const rate = fields({ rateLimit: u32(), maxBurstSz: or(u32(), 0), typicalPktSz: or(u16(), 0) });
const enhancements = fields({ vendorId: u32(), options: u32() });

/** The bits that every kernel takes. */
const ALL_ATTRIBUTES = (1 << 21) - 1;

/** A queue pair that the library made. */
export interface MadeQp<T extends number> {
  context: Context;
  pd?: ProtectionDomain;
  attr: QpInitAttr<T>;
  made: NativeQp;
  /** Somebody else made it, and may have changed it. */
  opened?: boolean;
}

/** What {@link QueuePair.query} gives. */
export interface QpQuery {
  /** The attributes that `modify` sets. */
  attr: FullQpAttr;
  /** What it was made with. */
  initAttr: {
    /** See {@link QpType}. */
    qpType: number;
    /** Whether every send request completes visibly. */
    sqSigAll: boolean;
    /** What the device gave, at least what was asked for. */
    cap: Required<QpCap>;
  };
}

/** `struct ibv_ece`: enhancements of a connection that only devices of one vendor have. */
export interface Ece {
  /** Whose enhancements they are. */
  vendorId: number;
  /** Which ones, in the vendor's own bits: 32. */
  options: number;
}

/** What a queue pair is, and what changes it: its state, its path and its groups. Requests are posted elsewhere. */
export abstract class QueuePairControl<out T extends number = number> extends Resource {
  /** The open device that it belongs to. */
  readonly context: Context;
  /** Undefined for XRC_RECV. */
  readonly pd: ProtectionDomain | undefined;
  /** Where send requests complete; undefined for XRC_RECV. */
  readonly sendCq: CompletionQueue | undefined;
  /** Where receive requests complete; undefined for XRC. */
  readonly recvCq: CompletionQueue | undefined;
  /** The shared receive queue that it takes requests from; undefined if it has a receive queue of its own. */
  readonly srq: SharedReceiveQueue | undefined;
  /** See {@link QpType}. */
  readonly qpType: T;
  /** 24 bits: what a peer calls it. */
  readonly qpNum: number;
  /** What the device gave, at least what was asked for. */
  readonly cap: Readonly<Required<QpCap>>;
  readonly #id: number;
  readonly #state: KnownState;

  /** @internal */
  constructor({ context, pd, attr, made, opened }: MadeQp<T>) {
    const { sendCq, recvCq, srq, xrcd, rwqIndTbl, qpType } = attr;
    const parents = new Set([pd, xrcd, sendCq, recvCq, srq, rwqIndTbl].filter((part) => part !== undefined));
    super('QueuePair', made.handle, 'ibv_destroy_qp', [...parents]);
    this.context = context;
    this.pd = pd;
    this.sendCq = sendCq;
    this.recvCq = recvCq;
    this.srq = srq;
    this.qpType = qpType;
    this.qpNum = made.qpNum;
    this.cap = made.cap;
    this.#id = made.id;
    this.#state = new KnownState(opened === true ? QpState.UNKNOWN : QpState.RESET);
    context[kElement](made.id, this);
  }

  /**
   * `ibv_modify_qp` with the mask of the given fields. For a type that the compiler knows it also knows what each step
   * needs: see {@link QpModify}.
   *
   * @throws TypeError, RangeError for a field that is misspelt or out of its range, by its name
   * @throws VerbsError EINVAL if the fields do not fit the transition, ETIMEDOUT, ENETUNREACH, ENODATA
   * @example
   * qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: AccessFlags.REMOTE_WRITE });
   */
  modify(attr: QpModify<T>): void {
    const syscall = 'ibv_modify_qp';
    const qp = this.use(syscall);
    const { attr: fields, mask } = nativeQpAttr(attr, 'attr');
    const state = fields['qpState'] as number | undefined;
    // Positive errno values by the manual; some providers give -1 or a negated one.
    check(-Math.abs(native.modifyQp(qp, fields, mask)), syscall, {
      detail: state === undefined ? undefined : `to state ${state}`,
    });
    if (state !== undefined) this[kState](state);
  }

  /** @internal It was brought to this state, here or by a vendor's call. */
  [kState](state: number): void {
    integer(state, 'state', 0, QpState.UNKNOWN);
    const text = 'the queue pair was reset, which drops its requests';
    if (state === QpState.RESET) {
      this.#forgetRequests(new VerbsError(errno.ECANCELED, 'ibv_modify_qp', { text }));
    }
    this.#state.see(this, state, 'modify');
  }

  /** What was posted does not complete any more. */
  #forgetRequests(reason: VerbsError): void {
    this.sendCq?.[kAbandon](this, reason);
    this.recvCq?.[kAbandon](this, reason);
  }

  /**
   * `ibv_query_qp`: all attributes, or with a {@link QpAttrMask} at least those.
   *
   * @throws VerbsError with the library's errno
   * @example enumName(QpState, qp.query().attr.qpState); // 'RTS'
   */
  query(mask = ALL_ATTRIBUTES): QpQuery {
    const qp = this.use('ibv_query_qp');
    integer(mask, 'mask', 0, 0x7fffffff);
    const { attr, initAttr } = checked(native.queryQp(qp, mask), 'ibv_query_qp');
    const full = publicQpAttr(attr);
    if ((mask & QpAttrMask.STATE) !== 0) this.#state.see(this, full.qpState, 'query');
    return { attr: full, initAttr };
  }

  /**
   * Brings an RC, UC or XRC queue pair from RESET to RTS: `ibv_modify_qp` three times, with the usual values.
   *
   * @throws TypeError, RangeError for an option that is missing, misspelt or out of its range, by its name
   * @throws VerbsError EINVAL (another type, another state than RESET), and what `modify` throws
   * @example
   * import { randomInt } from 'node:crypto';
   *
   * const psn = randomInt(2 ** 24); // which the peer is told, with qp.qpNum and this port's GID
   * qp.connect({ remote: { qpNum: peer.qpNum, psn: peer.psn, gid: peer.gid }, psn, pathMtu: Mtu.MTU_4096 });
   */
  connect(options: ConnectOptions): void {
    if (!CONNECTED.has(this.qpType)) {
      throw new VerbsError(errno.EINVAL, 'ibv_modify_qp', {
        hint: 'connect() is for RC, UC and XRC; a UD queue pair has activate()',
      });
    }
    for (const step of connectSteps(options, this.qpType)) this.modify(step);
  }

  /**
   * Brings a UD queue pair from RESET to RTS: `ibv_modify_qp` three times.
   *
   * @throws VerbsError EINVAL (another type, another state than RESET)
   * @example qp.activate({ qkey: 0x11111111 });
   */
  activate(options: ActivateOptions): void {
    if (this.qpType !== QpType.UD) {
      throw new VerbsError(errno.EINVAL, 'ibv_modify_qp', {
        hint: 'activate() is for UD; an RC, UC or XRC queue pair has connect()',
      });
    }
    for (const step of activateSteps(options)) this.modify(step);
  }

  /**
   * `ibv_attach_mcast`: a UD queue pair receives what is sent to the group.
   *
   * @param lid the group's LID on InfiniBand, default 0
   * @throws VerbsError EINVAL (no UD queue pair, no multicast GID), ENOMEM (more groups than the device has)
   * @example qp.attachMcast('ff0e::ffff:224.1.2.3');
   */
  attachMcast(gid: Gid, lid = 0): void {
    const qp = this.use('ibv_attach_mcast');
    const group = gidBytes(gid, 'gid');
    check(-Math.abs(native.attachMcast(qp, group, optional(lid, 'lid', 0xffff, 0))), 'ibv_attach_mcast');
  }

  /**
   * `ibv_detach_mcast`: it receives no more of the group.
   *
   * @throws VerbsError EINVAL if it was not attached to the group
   */
  detachMcast(gid: Gid, lid = 0): void {
    const qp = this.use('ibv_detach_mcast');
    const group = gidBytes(gid, 'gid');
    check(-Math.abs(native.detachMcast(qp, group, optional(lid, 'lid', 0xffff, 0))), 'ibv_detach_mcast');
  }

  /**
   * `ibv_modify_qp_rate_limit`: kbit/s, 0 for none; `maxBurstSz` and `typicalPktSz` in bytes.
   *
   * @throws VerbsError EOPNOTSUPP where the device has no packet pacing (see `packetPacingCaps` of `queryDeviceEx`)
   */
  modifyRateLimit(attr: { rateLimit: number; maxBurstSz?: number; typicalPktSz?: number }): void {
    const qp = this.use('ibv_modify_qp_rate_limit');
    const { rateLimit, maxBurstSz, typicalPktSz } = rate(attr, 'attr');
    check(-Math.abs(native.modifyQpRateLimit(qp, rateLimit, maxBurstSz, typicalPktSz)), 'ibv_modify_qp_rate_limit');
  }

  /**
   * `ibv_query_ece`: the enhancements that the connection could have, for the peer to choose from.
   *
   * @throws VerbsError EOPNOTSUPP where the device has none
   */
  queryEce(): Ece {
    return checked(native.queryEce(this.use('ibv_query_ece')), 'ibv_query_ece');
  }

  /**
   * `ibv_set_ece`: those that both ends have, before the queue pair leaves INIT.
   *
   * @throws VerbsError EOPNOTSUPP where the device has none, EINVAL
   */
  setEce(ece: Ece): void {
    const qp = this.use('ibv_set_ece');
    const { vendorId, options } = enhancements(ece, 'ece');
    check(-Math.abs(native.setEce(qp, vendorId, options)), 'ibv_set_ece');
  }

  /**
   * `ibv_query_qp_data_in_order`: whether data of that operation is written in its order, so that a program may watch
   * its last byte. False where the library cannot tell.
   *
   * @param flags of `enum ibv_query_qp_data_in_order_flags`, default 0
   * @throws TypeError, RangeError for an argument
   * @example if (qp.queryDataInOrder(WrOpcode.RDMA_WRITE)) console.log('the last byte is written last');
   */
  queryDataInOrder(opcode: WrOpcode, flags = 0): boolean {
    const qp = this.use('ibv_query_qp_data_in_order');
    integer(opcode, 'opcode', 0, 0xffff);
    optional(flags, 'flags', 0x7fffffff, 0);
    return native.queryQpDataInOrder(qp, opcode, flags) > 0;
  }

  /** @internal Something happened that may have changed its state: if somebody wants to know, this looks. */
  [kSeeState](cause: QpStateMessage['cause']): void {
    if (this.closed || this.#state.lasting || !qpStates.hasSubscribers) return;
    const found = native.queryQp(this.use('ibv_query_qp'), QpAttrMask.STATE);
    if (typeof found !== 'number') this.#state.see(this, found.attr['qpState'] as number, cause);
  }

  protected override onClosed(): void {
    this.#forgetRequests(closedError('QueuePair', 'ibv_poll_cq'));
    this.context[kElement](this.#id, undefined);
  }

  protected override describe() {
    const part = (object: Resource | undefined) => object && brief(object);
    return present({
      qpType: named(QpType, this.qpType),
      qpNum: qpn(this.qpNum),
      knownState: named(QpState, QpState[this.#state.name]),
      cap: this.cap,
      pd: part(this.pd),
      sendCq: part(this.sendCq),
      recvCq: part(this.recvCq),
      srq: part(this.srq),
    });
  }
}
