import { errno } from '../base/errno.js';
import { check, checked, closedError, VerbsError } from '../base/errors.js';
import { gidText } from '../base/gid.js';
import { handled } from '../base/handled.js';
import { brief, named, present, qpn, special } from '../base/inspection.js';
import { native, type NativeQp } from '../base/native.js';
import {
  kAbandon,
  kClosing,
  kElement,
  kInherit,
  kKeep,
  kKnownState,
  kPresentState,
  kSeeState,
  kState,
} from '../base/symbols.js';
import { integer } from '../base/validate.js';
import type { WaitOptions } from '../base/wait-options.js';
import type { CompletionCounter } from '../completion/completion-counter.js';
import type { CompletionQueue } from '../completion/completion-queue.js';
import type { WorkCompletion } from '../completion/work-completion.js';
import { qpStates } from '../diagnostics/channels.js';
import { traced } from '../diagnostics/request-tracing.js';
import { enumName, type QpAttachCompCntrOp, QpAttrMask, QpState, QpType, type WrOpcode } from '../enums/index.js';
import type { Among } from '../enums/members.js';
import { handleOf, illegalConstructor, Resource } from '../lifetime/resource.js';
import type { MemoryWindow } from '../memory/memory-window.js';
import type { RecvBatch } from '../posting/recv-batch.js';
import type { SendBatch } from '../posting/send-batch.js';
import type { Gid } from '../types/ah-attr.js';
import type { QpStateMessage } from '../types/diagnostics.js';
import type { Context, ProtectionDomain } from '../types/objects.js';
import type { QpAttr, QpCap } from '../types/qp-attr.js';
import type { MwBindInfo, RecvWr, SendWrOf } from '../types/work-request.js';
import {
  type ActivateOptions,
  activateSteps,
  type ConnectOptions,
  connectSteps,
  type InitOptions,
  type RawActivateOptions,
  initStep,
} from './connect.js';
import {
  endpointOptions,
  type EndpointOptions,
  type LocalEnd,
  localEnd,
  optionsTo,
  type QpEndpoint,
} from './endpoint.js';
import { nativeFlowAttr } from './flow-attr.js';
import type { FlowAttr } from './flow-spec.js';
import { Flow } from './flow.js';
import { KnownState } from './known-state.js';
import { awaitRecv, awaitSend, PostCalls } from './post-calls.js';
import { modifyReason } from '../reasons/modify-reason.js';
import { pathReason } from '../reasons/path-reason.js';
import { nativeQpAttr, publicQpAttr } from './qp-attr.js';
import * as calls from './qp-calls.js';
import type { Ece, QpQuery } from './qp-calls.js';
import type { QpInitAttr } from './qp-init-attr.js';
import type { QpModify } from './qp-transition.js';
import type { SharedReceiveQueue } from './shared-receive-queue.js';

const CONNECTED: ReadonlySet<number> = new Set([QpType.RC, QpType.UC, QpType.XRC_SEND, QpType.XRC_RECV]);

type Connectable = (typeof QpType)['RC' | 'UC' | 'XRC_SEND' | 'XRC_RECV'];
/** The argument of `activate`. */
type Activation<T extends number> = Among<
  T,
  typeof QpType.RAW_PACKET,
  [options?: RawActivateOptions],
  [options: ActivateOptions]
>;
/** Nothing, for a type of queue pair that the compiler knows to have no connection. */
type Connected<T extends number, V> = Among<T, (typeof QpType)['UD' | 'RAW_PACKET'], never, V>;

/** The bits that every kernel supports. */
const ALL_ATTRIBUTES = (1 << 21) - 1;

/** A queue pair that the library made. */
export interface MadeQp<T extends number> {
  context: Context;
  pd?: ProtectionDomain;
  attr: QpInitAttr<T>;
  made: NativeQp;
  /** Another program made it, and may have changed it. */
  opened?: boolean;
  /** A further parent, of a provider. */
  parent?: Resource;
}

/**
 * `ibv_qp`: where work requests are posted. Created by {@link ProtectionDomain.createQp}; `close()` is
 * `ibv_destroy_qp`.
 *
 * The memory of a posted request stays valid until its completion was polled, or that of a later signaled request of
 * the same queue, even if its JavaScript objects are collected meanwhile. A request also occupies its place in the
 * queue until then: at most `cap.maxSendWr` requests are outstanding in that sense.
 *
 * Hold it as long as its peer needs it, also if it only responds: like every object it is closed when it is collected.
 */
export class QueuePair<out T extends number = QpType> extends Resource {
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
  /** 24 bits: a peer needs it to connect. */
  readonly qpNum: number;
  /** The capacities that the device granted, at least the requested ones. */
  readonly cap: Readonly<Required<QpCap>>;
  readonly #id: number;
  readonly #inherited: Resource[] = [];
  readonly #state: KnownState;
  readonly #post: PostCalls;
  /** This end, as it was told to the peer. */
  #end: LocalEnd | undefined;

  /** @internal */
  constructor(parts: MadeQp<T>) {
    if ((parts as Partial<MadeQp<T>> | undefined)?.made === undefined) throw illegalConstructor('QueuePair');
    const { context, pd, attr, made, opened, parent } = parts;
    const { sendCq, recvCq, srq, xrcd, rwqIndTbl, qpType } = attr;
    const parents = new Set([pd, xrcd, sendCq, recvCq, srq, rwqIndTbl, parent].filter((part) => part !== undefined));
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
    this.#post = new PostCalls(this, made.handle);
    this.#state = new KnownState(opened === true ? QpState.UNKNOWN : QpState.RESET);
    context[kElement](made.id, this);
  }

  /**
   * `ibv_modify_qp` with the mask of the given fields. For a type that the compiler knows, it also checks the
   * fields of each step: see {@link QpModify}.
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
    if (state === QpState.RESET) this.#keepCompletions();
    // Positive errno values by the manual; some providers give -1 or a negated one.
    const code = Math.abs(native.modifyQp(qp, fields, mask));
    if (code !== 0) throw this.#refusedModify(code, attr);
    if (state !== undefined) this[kState](state);
  }

  #refusedModify(code: number, attr: QpAttr): VerbsError {
    const { qpType, context } = this;
    const from = this[kPresentState]();
    const step = [from, attr.qpState ?? from].map((state) => enumName(QpState, state)).join(' -> ');
    const found = native.queryQp(this.use('ibv_modify_qp'), QpAttrMask.PORT);
    const portNum = typeof found === 'number' ? 1 : (found.attr['portNum'] as number);
    let hint: string | undefined;
    try {
      const device = () => context.queryDevice();
      if (code === errno.EINVAL) {
        hint = modifyReason({ qpType, from, attr, portNum, device, port: (port) => context.queryPort(port) });
      } else if (attr.ahAttr?.grh !== undefined) {
        const { dgid, sgidIndex = context.defaultGid(portNum).index } = attr.ahAttr.grh;
        const to = typeof dgid === 'string' ? dgid : gidText(dgid);
        hint = pathReason(code, { context, portNum, sgidIndex, dgid: to });
      }
    } catch {
      // The device does not tell: then the general advice stands.
    }
    return new VerbsError(code, 'ibv_modify_qp', { detail: `of 0x${this.qpNum.toString(16)} ${step}`, hint });
  }

  /** @internal The last known state, without asking the device. */
  get [kKnownState](): number {
    return this.#state.value;
  }

  /** @internal The device may have changed it by itself. */
  [kPresentState](): number {
    const found = native.queryQp(this.use('ibv_query_qp'), QpAttrMask.STATE);
    return typeof found === 'number' ? QpState.UNKNOWN : (found.attr['qpState'] as number);
  }

  /** @internal `modify` or a vendor's call brought it to this state. */
  [kState](state: number): void {
    integer(state, 'state', 0, QpState.UNKNOWN);
    const text = 'the queue pair was reset, which drops its requests';
    if (state === QpState.RESET) {
      this.#forgetRequests(new VerbsError(errno.ECANCELED, 'ibv_modify_qp', { text }));
      // The next connection has another PSN: packets of this one may still be on their way.
      this.#end = undefined;
    }
    this.#state.see(this, state, 'modify');
  }

  /**
   * Adapters of mlx5 drop the completions of a queue pair that is destroyed or reset, with those of requests that succeeded, and
   * a shared receive queue would never get their places back.
   */
  #keepCompletions(): void {
    this.sendCq?.[kKeep]();
    if (this.recvCq !== this.sendCq) this.recvCq?.[kKeep]();
  }

  /** @internal */
  override [kClosing](): void {
    super[kClosing]();
    this.#keepCompletions();
  }

  /** @internal The posted requests have memory of the region, which nobody else closes. */
  [kInherit](mr: Resource): void {
    this.#inherited.push(mr);
  }

  /** The posted requests do not complete any more. */
  #forgetRequests(reason: VerbsError): void {
    this.sendCq?.[kAbandon](this, reason);
    this.recvCq?.[kAbandon](this, reason);
  }

  /**
   * `ibv_query_qp`: all attributes, or at least those of a {@link QpAttrMask}.
   *
   * @throws VerbsError with the library's errno
   * @example enumName(QpState, qp.query().attr.qpState); // 'RTS'
   */
  query(mask: QpAttrMask = ALL_ATTRIBUTES): QpQuery {
    const qp = this.use('ibv_query_qp');
    integer(mask, 'mask', 0, 0x7fffffff);
    const { attr, initAttr } = checked(native.queryQp(qp, mask), 'ibv_query_qp');
    const full = publicQpAttr(attr);
    if ((mask & QpAttrMask.STATE) !== 0) this.#state.see(this, full.qpState, 'query');
    return { attr: full, initAttr };
  }

  /**
   * This end of a connection, for the peer's {@link QueuePair.connect}: number, a random PSN, GID, MTU and how many
   * reads and atomics it serves. Plain values, which JSON can carry. Another call gives the same PSN.
   *
   * Two hosts whose interfaces have other MTUs need `peer`: each end then tells what it can send, and `connect` takes the smaller.
   *
   * @throws TypeError, RangeError for an option, by its name
   * @throws VerbsError EINVAL (no such port), ENODATA (the port has no GID)
   * @example console.log(JSON.stringify(qp.endpoint()));
   * // {"qpNum":17,"psn":12082113,"mtu":5,"rdAtomic":16,"gid":"::ffff:127.0.0.1"}
   */
  endpoint(options: EndpointOptions = {}): QpEndpoint {
    this.use('ibv_query_port');
    const end = localEnd(this.context, this.qpNum, endpointOptions(options, 'options'));
    const psn = this.#end?.endpoint.psn ?? end.endpoint.psn;
    this.#end = { ...end, endpoint: { ...end.endpoint, psn } };
    return { ...this.#end.endpoint };
  }

  /**
   * Brings the queue pair from RESET to INIT, by `ibv_modify_qp`: receive requests can be posted, and nothing arrives
   * yet. So a program can have receives in the queue before its peer can send: `init`, post them, `connect` or
   * `activate`.
   *
   * @throws TypeError, RangeError for an option, by its name
   * @throws VerbsError EINVAL (another state than RESET, no such port)
   * @example
   * qp.init();
   * qp.postRecv({ sgList: [{ mr }] });
   * qp.connect(peer);
   */
  init(options: InitOptions = {}): void {
    this.modify(initStep(options, this.qpType));
  }

  /**
   * Brings an RC, UC or XRC queue pair from RESET or INIT to RTS: `ibv_modify_qp`, with the usual values.
   *
   * @param peer what {@link QueuePair.endpoint} of the peer gave; members that it has beside those are ignored (but
   *   without `options` an object with `remote` is a {@link ConnectOptions}). Path MTU, and reads and atomics at a time,
   *   are what both ends have
   * @param options instead of these values
   * @throws TypeError, RangeError for a member or an option that is missing, misspelt or out of its range, by its name
   * @throws VerbsError EINVAL (another type, another state than RESET and INIT), and the errors of `modify`
   * @example
   * const mine = qp.endpoint(); // for the peer, out of band
   * qp.connect(peer, { access: AccessFlags.REMOTE_READ });
   */
  connect(peer: Connected<T, QpEndpoint>, options?: Omit<ConnectOptions, 'remote' | 'psn'>): void;
  /**
   * The same with every value given.
   *
   * @example
   * qp.connect({ remote: { qpNum: 17, psn: 5, gid: '::ffff:10.0.0.2' }, psn: 7, pathMtu: Mtu.MTU_4096 });
   */
  connect(options: Connected<T, ConnectOptions>): void;
  connect(peer: QpEndpoint | ConnectOptions, options?: Omit<ConnectOptions, 'remote' | 'psn'>): void {
    if (!CONNECTED.has(this.qpType)) {
      throw new VerbsError(errno.EINVAL, 'ibv_modify_qp', {
        hint: 'connect() is for RC, UC and XRC; a UD or RAW_PACKET queue pair has activate()',
      });
    }
    const defaultSgid = (portNum: number) => this.context.defaultGid(portNum).index;
    const all = this.#optionsOf(peer, options);
    const facts = { qpType: this.qpType, inInit: this.#inInit(), defaultSgid };
    for (const step of connectSteps(all, facts)) this.modify(step);
  }

  #optionsOf(peer: QpEndpoint | ConnectOptions, options: object | undefined): unknown {
    const whole = typeof peer !== 'object' || (peer as object | null) === null || 'remote' in peer;
    if (options === undefined && whole) return peer;
    const { portNum, sgidIndex } = (options ?? {}) as EndpointOptions;
    const end = (this.#end ??= localEnd(this.context, this.qpNum, endpointOptions({ portNum, sgidIndex }, 'options')));
    return optionsTo(peer, end, this.context, options ?? {});
  }

  #inInit(): boolean {
    return this.query(QpAttrMask.STATE).attr.qpState === QpState.INIT;
  }

  /**
   * Brings a UD or RAW_PACKET queue pair, which has no peer, from RESET or INIT to RTS: `ibv_modify_qp`.
   *
   * @param options UD needs `qkey`; RAW_PACKET takes `portNum` only, and no options at all
   * @throws VerbsError EINVAL (another type, another state than RESET and INIT)
   * @example qp.activate({ qkey: 0x11111111 });
   */
  activate(...options: Among<T, Connectable, [never], Activation<T>>): void {
    if (CONNECTED.has(this.qpType)) {
      throw new VerbsError(errno.EINVAL, 'ibv_modify_qp', {
        hint: 'activate() is for UD and RAW_PACKET; an RC, UC or XRC queue pair has connect()',
      });
    }
    for (const step of activateSteps(options[0], this.qpType, this.#inInit())) this.modify(step);
  }

  /**
   * `ibv_qp_attach_comp_cntr`: the operations count at a completion counter, until the queue pair is closed. The counter
   * closes the queue pair, too.
   *
   * @param operations `QpAttachCompCntrOp`, or-ed; each counts at one counter at most
   * @throws VerbsError EINVAL (the queue pair is beyond INIT, or counts one of them already), EOPNOTSUPP (the device cannot
   *   count one of them)
   * @example qp.attachCompCntr(counter, QpAttachCompCntrOp.SEND | QpAttachCompCntrOp.RDMA_WRITE);
   */
  attachCompCntr(counter: CompletionCounter, operations: QpAttachCompCntrOp): void {
    const syscall = 'ibv_qp_attach_comp_cntr';
    const qp = this.use(syscall);
    const handle = handleOf(counter, 'CompletionCounter', 'counter', syscall);
    integer(operations, 'operations', 1, 0xffffffff);
    check(-Math.abs(native.attachCompCntr(qp, handle, operations)), syscall);
    this.addParent(counter);
  }

  /**
   * `ibv_attach_mcast`: a UD queue pair receives the group's packets.
   *
   * @param lid the group's LID on InfiniBand, default 0
   * @throws VerbsError EINVAL (no UD queue pair, no multicast GID), ENOMEM (more groups than the device has)
   * @example qp.attachMcast('ff0e::ffff:224.1.2.3');
   */
  attachMcast(gid: Gid, lid = 0): void {
    calls.attachMcast(this.use('ibv_attach_mcast'), this.qpType, gid, lid);
  }

  /**
   * `ibv_detach_mcast`: it receives no more packets of the group.
   *
   * @throws VerbsError EINVAL if it was not attached to the group
   */
  detachMcast(gid: Gid, lid = 0): void {
    calls.detachMcast(this.use('ibv_detach_mcast'), this.qpType, gid, lid);
  }

  /**
   * `ibv_modify_qp_rate_limit`: kbit/s, 0 for none; `maxBurstSz` and `typicalPktSz` in bytes.
   *
   * @throws VerbsError EOPNOTSUPP where the device has no packet pacing (see `packetPacingCaps` of `queryDeviceEx`)
   */
  modifyRateLimit(attr: { rateLimit: number; maxBurstSz?: number; typicalPktSz?: number }): void {
    calls.modifyRateLimit(this.use('ibv_modify_qp_rate_limit'), attr);
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
   * `ibv_set_ece`: the enhancements that both ends have, before the queue pair leaves INIT.
   *
   * @throws VerbsError EOPNOTSUPP where the device has none, EINVAL
   */
  setEce(ece: Ece): void {
    calls.setEce(this.use('ibv_set_ece'), ece);
  }

  /**
   * `ibv_query_qp_data_in_order`: whether data of that operation is written in its order, so that a program may watch
   * its last byte. False where the library does not know.
   *
   * @param flags of `enum ibv_query_qp_data_in_order_flags`, default 0
   * @throws TypeError, RangeError for an argument
   * @example if (qp.queryDataInOrder(WrOpcode.RDMA_WRITE)) console.log('the last byte is written last');
   */
  queryDataInOrder(opcode: WrOpcode, flags = 0): boolean {
    return calls.queryDataInOrder(this.use('ibv_query_qp_data_in_order'), opcode, flags);
  }

  /**
   * `ibv_post_send` of one or many requests, in their order, in one native call. A queue pair that was created with
   * `sendOpsFlags` posts them by `ibv_wr_start`, the builders `ibv_wr_*` and `ibv_wr_complete`: of those that the device
   * gets, it takes all or none.
   *
   * Whatever is wrong with one of them, the requests before it are posted, as in C: the error's `posted` is their number.
   *
   * @throws TypeError, RangeError with the argument's path, for instance `wr[2].sgList[0]`
   * @throws VerbsError ENOMEM (the queue is full), EINVAL (state, type or limits of the queue pair)
   * @example
   * qp.postSend({ opcode: WrOpcode.SEND, wrId: 7, sendFlags: SendFlags.SIGNALED, sgList: [{ mr, length: 64 }] });
   */
  postSend(wr: SendWrOf<T> | readonly SendWrOf<T>[]): void {
    this.use('ibv_post_send');
    this.#post.send(wr);
  }

  /**
   * `ibv_post_send` of the requests of a {@link SendBatch} from slot `first` on, in one native call that allocates
   * nothing. The batch may be changed and posted again as soon as this returns.
   *
   * @param count default: up to the end of the batch
   * @throws TypeError, RangeError with the request's path, for instance `batch[2].sgList[0]`; as with `postSend`, the
   *   requests before the wrong one are posted, and the error's `posted` is their number
   * @throws VerbsError as with `postSend`
   * @example qp.postSendBatch(sends, 0, 16); // the first 16 of them
   */
  postSendBatch(batch: SendBatch, first = 0, count?: number): void {
    this.use('ibv_post_send');
    this.#post.sendBatch(batch, first, count);
  }

  /**
   * `ibv_post_recv` of one or many requests, in their order, in one native call.
   *
   * @throws TypeError, RangeError, VerbsError as {@link QueuePair.postSend}; EINVAL also for a queue pair with an `srq`
   * @example qp.postRecv([{ wrId: 1, sgList: [{ mr, offset: 0, length: 4096 }] }]);
   */
  postRecv(wr: RecvWr | readonly RecvWr[]): void {
    this.use('ibv_post_recv');
    this.#post.recv(wr);
  }

  /**
   * `ibv_post_recv` of the requests of a {@link RecvBatch}; as with {@link QueuePair.postSendBatch}.
   *
   * @throws TypeError, RangeError, VerbsError as {@link QueuePair.postSendBatch}
   * @example
   * // With slots as `wrId`: each slot is posted again after its use.
   * const count = cq.pollBatch(completions);
   * for (let i = 0; i < count; i++) qp.postRecvBatch(receives, Number(completions.wrId(i)), 1);
   */
  postRecvBatch(batch: RecvBatch, first = 0, count?: number): void {
    this.use('ibv_post_recv');
    this.#post.recvBatch(batch, first, count);
  }

  /**
   * `ibv_bind_mw`: opens a window of type 1, or closes it (without `bindInfo.mr`). It completes like a send request;
   * when this returns the window has its new rkey. Every region of a posted bind stays registered until it or the
   * window is closed, because a bind may fail after it was posted.
   *
   * @throws VerbsError EINVAL (a window of type 2: post BIND_MW), EPERM (another protection domain), ENOMEM
   * @example qp.bindMw(mw, { wrId: 1, bindInfo: { mr, offset: 0, length: 64, access: AccessFlags.REMOTE_READ } });
   */
  bindMw(mw: MemoryWindow, bind: { wrId?: bigint | number; sendFlags?: number; bindInfo: MwBindInfo }): void {
    this.use('ibv_bind_mw');
    this.#post.bindMw(mw, bind);
  }

  /**
   * `ibv_create_flow`: the frames that a queue pair of type RAW_PACKET receives.
   *
   * @throws TypeError, RangeError for a field, by its path
   * @throws VerbsError EOPNOTSUPP, EPERM (CAP_NET_RAW), EINVAL
   * @example qp.createFlow({ specs: [{ type: 'udp', val: { dstPort: 4789 } }] });
   */
  createFlow(attr: FlowAttr): Flow {
    const qp = this.use('ibv_create_flow');
    const { attr: fields, specs, parents } = nativeFlowAttr(attr, 'attr');
    return new Flow(this, checked(native.createFlow(qp, fields, specs), 'ibv_create_flow'), parents);
  }

  /**
   * Posts a request with SIGNALED (`ibv_post_send`) and waits for its completion on the completion channel of `sendCq`,
   * while Node's event loop runs. Many requests may be awaited at a time; the completions of other requests stay in the
   * queue for `poll` and the iteration.
   *
   * @param options `signal` ends the waiting, not the request
   * @throws CompletionError if it completes with another status than SUCCESS
   * @throws VerbsError, TypeError, RangeError as {@link QueuePair.postSend}; EINVAL if `sendCq` has no channel;
   *   ERR_VERBS_CLOSED if the queue pair is closed before it completes
   * @example
   * const { byteLen } = await qp.send({
   *   opcode: WrOpcode.RDMA_READ,
   *   sgList: [{ mr }],
   *   remoteAddr: peer.addr,
   *   rkey: peer.rkey,
   * });
   */
  send(wr: SendWrOf<T>, options?: WaitOptions): Promise<WorkCompletion> {
    return traced(this, { method: 'send', wr }, () => {
      this.use('ibv_post_send');
      return awaitSend(this, this.#post, wr, options);
    });
  }

  /**
   * Posts a receive request (`ibv_post_recv`) and waits for its message, as {@link QueuePair.send} does.
   *
   * A device does not take a posted request back. So a request whose `signal` was aborted stays, and the next `recv` of
   * the queue pair with at least as much room takes it over instead of posting one more. Its message is moved into the
   * memory of that `recv`, also one that arrived in between: a retry gets the answer. {@link receiver} has buffers of its
   * own and needs none of this.
   *
   * @throws CompletionError, VerbsError, TypeError, RangeError as {@link QueuePair.send}; EINVAL if `recvCq` has no
   *   channel
   * @example
   * for (;;) {
   *   await qp.send({ opcode: WrOpcode.SEND, sgList: [{ mr, length: 64 }] });
   *   try {
   *     await qp.recv({ sgList: [{ mr }] }, { signal: AbortSignal.timeout(1000) });
   *     break; // the answer is in mr.bytes
   *   } catch (error) {
   *     if ((error as Error).name !== 'TimeoutError') throw error;
   *   }
   * }
   */
  recv(wr: RecvWr, options?: WaitOptions): Promise<WorkCompletion> {
    const message = traced(this, { method: 'recv', wr }, () => {
      this.use('ibv_post_recv');
      return awaitRecv(this, this.#post, wr, options);
    });
    // The program awaits it after the send that it waits for, which may fail, too.
    return handled(message);
  }

  /** @internal A completion or an event may have changed the state: queries it for subscribers. */
  [kSeeState](cause: QpStateMessage['cause']): void {
    if (this.closed || this.#state.lasting || !qpStates.hasSubscribers) return;
    const found = native.queryQp(this.use('ibv_query_qp'), QpAttrMask.STATE);
    if (typeof found !== 'number') this.#state.see(this, found.attr['qpState'] as number, cause);
  }

  protected override onClosed(): void {
    this.#forgetRequests(closedError('QueuePair', 'ibv_poll_cq'));
    this.context[kElement](this.#id, undefined);
    for (const mr of this.#inherited.splice(0)) mr.close();
  }

  protected override describe() {
    const part = (object: Resource | undefined) => object && brief(object);
    return present({
      qpType: named(QpType, this.qpType),
      qpNum: qpn(this.qpNum),
      knownState: special(this.#state.picture),
      cap: this.cap,
      pd: part(this.pd),
      sendCq: part(this.sendCq),
      recvCq: part(this.recvCq),
      srq: part(this.srq),
    });
  }
}
