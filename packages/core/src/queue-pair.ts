import { inspect } from 'node:util';
import type { MwBindInfo } from './bind-info.js';
import type { CompletionQueue, WaitOptions } from './completion-queue.js';
import type { Context } from './context.js';
import { type ActivateOptions, activateSteps, type ConnectOptions, connectSteps } from './connect.js';
import { enumName, QpType, SendFlags, WrOpcode } from './enums.js';
import { check, checked, VerbsError } from './errors.js';
import { Flow } from './flow.js';
import { type FlowAttr, nativeFlowAttr } from './flow-attr.js';
import { type Gid, gidBytes } from './gid.js';
import type { MemoryWindow } from './memory-window.js';
import { native, type NativeQp } from './native.js';
import { awaitable, failBatch, type Limits, postRequests, selectRequests } from './posting.js';
import type { ProtectionDomain } from './protection-domain.js';
import { type FullQpAttr, nativeQpAttr, publicQpAttr } from './qp-attr.js';
import type { QpCap, QpInitAttr } from './qp-init-attr.js';
import type { QpModify } from './qp-transition.js';
import { type RecordSpace, writeRecv, writeSend } from './records.js';
import type { RecvBatch } from './recv-batch.js';
import type { RequestPath } from './request-path.js';
import { Resource } from './resource.js';
import type { SendBatch } from './send-batch.js';
import type { SharedReceiveQueue } from './shared-receive-queue.js';
import { integer, object, optional } from './validate.js';
import type { RecvWr, SendWr } from './work-request.js';
import type { WorkCompletion } from './work-completion.js';
import { kAbandon, kAwait, kElement } from './symbols.js';

const CONNECTED: ReadonlySet<number> = new Set([QpType.RC, QpType.UC, QpType.XRC_SEND, QpType.XRC_RECV]);

/** The bits that every kernel takes. */
const ALL_ATTRIBUTES = (1 << 21) - 1;

/** A queue pair that the library made. */
interface MadeQp<T extends number> {
  context: Context;
  pd?: ProtectionDomain;
  attr: QpInitAttr<T>;
  made: NativeQp;
}

/**
 * `ibv_qp`: where work requests are posted. Made by {@link ProtectionDomain.createQp}; `close()` is `ibv_destroy_qp`.
 *
 * The memory of a posted request stays valid until its completion was polled, or that of a later signaled request of
 * the same queue, whatever becomes of the JavaScript objects meanwhile. The same holds for the queue's room: at most
 * `cap.maxSendWr` requests are outstanding in that sense.
 */
export class QueuePair<out T extends number = number> extends Resource {
  readonly context: Context;
  /** Undefined for XRC_RECV. */
  readonly pd: ProtectionDomain | undefined;
  readonly sendCq: CompletionQueue | undefined;
  readonly recvCq: CompletionQueue | undefined;
  readonly srq: SharedReceiveQueue | undefined;
  /** See {@link QpType}. */
  readonly qpType: T;
  /** 24 bits: what a peer calls it. */
  readonly qpNum: number;
  /** What the device gave, at least what was asked for. */
  readonly cap: Readonly<Required<QpCap>>;
  readonly #id: number;

  /** @internal */
  constructor({ context, pd, attr, made }: MadeQp<T>) {
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
    const qp = this.use('ibv_modify_qp');
    const { attr: fields, mask } = nativeQpAttr(attr, 'attr');
    // Positive errno values by the manual; some providers give -1 or a negated one.
    check(-Math.abs(native.modifyQp(qp, fields, mask)), 'ibv_modify_qp', {
      detail: attr.qpState === undefined ? undefined : `to state ${attr.qpState}`,
    });
  }

  /** `ibv_query_qp`: all attributes, or with a {@link QpAttrMask} at least those. */
  query(mask = ALL_ATTRIBUTES): {
    attr: FullQpAttr;
    initAttr: { qpType: number; sqSigAll: boolean; cap: Required<QpCap> };
  } {
    const qp = this.use('ibv_query_qp');
    integer(mask, 'mask', 0, 0x7fffffff);
    const { attr, initAttr } = checked(native.queryQp(qp, mask), 'ibv_query_qp');
    return { attr: publicQpAttr(attr), initAttr };
  }

  /**
   * Brings an RC, UC or XRC queue pair from RESET to RTS: three calls of `modify` with the usual values.
   *
   * @example
   * qp.connect({ remote: { qpNum, psn, gid }, psn: myPsn, pathMtu: Mtu.MTU_4096 });
   */
  connect(options: ConnectOptions): void {
    if (!CONNECTED.has(this.qpType)) {
      throw new VerbsError(22, 'ibv_modify_qp', {
        hint: 'connect() is for RC, UC and XRC; a UD queue pair has activate()',
      });
    }
    for (const step of connectSteps(options, this.qpType)) this.modify(step);
  }

  /**
   * Brings a UD queue pair from RESET to RTS: three calls of `modify`.
   *
   * @example qp.activate({ qkey: 0x11111111 });
   */
  activate(options: ActivateOptions): void {
    if (this.qpType !== QpType.UD) {
      throw new VerbsError(22, 'ibv_modify_qp', {
        hint: 'activate() is for UD; an RC, UC or XRC queue pair has connect()',
      });
    }
    for (const step of activateSteps(options)) this.modify(step);
  }

  /**
   * `ibv_bind_mw`: opens a window of type 1, or closes it (without `bindInfo.mr`). It completes like a send request; when
   * this returns the window has its new rkey.
   *
   * @throws VerbsError EINVAL (a window of type 2: post BIND_MW), EPERM (another protection domain), ENOMEM
   * @example qp.bindMw(mw, { wrId: 1, bindInfo: { mr, offset: 0, length: 64, access: AccessFlags.REMOTE_READ } });
   */
  bindMw(mw: MemoryWindow, bind: { wrId?: bigint | number; sendFlags?: number; bindInfo: MwBindInfo }): void {
    const qp = this.use('ibv_bind_mw');
    const given = object(bind, 'bind', ['wrId', 'sendFlags', 'bindInfo']);
    const write = (space: RecordSpace) => {
      writeSend(space, { ...given, opcode: WrOpcode.BIND_MW, mw, rkey: 0 }, 'bind', { ud: false, xrc: false });
    };
    const limits = this.#sendLimits('ibv_bind_mw');
    postRequests(undefined, write, (batch, count) => native.bindMw(qp, batch.bytes, count), limits);
  }

  /**
   * `ibv_attach_mcast`: a UD queue pair receives what is sent to the group.
   *
   * @throws VerbsError EINVAL (no UD queue pair, no multicast GID), ENOMEM (more groups than the device has)
   * @example qp.attachMcast('ff0e::ffff:224.1.2.3');
   */
  attachMcast(gid: Gid, lid = 0): void {
    const qp = this.use('ibv_attach_mcast');
    const group = gidBytes(gid, 'gid');
    check(-Math.abs(native.attachMcast(qp, group, optional(lid, 'lid', 0xffff, 0))), 'ibv_attach_mcast');
  }

  /** `ibv_detach_mcast`. */
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
    const given = object(attr, 'attr', ['rateLimit', 'maxBurstSz', 'typicalPktSz']);
    const rate = integer(given['rateLimit'], 'attr.rateLimit', 0, 0xffffffff);
    const burst = optional(given['maxBurstSz'], 'attr.maxBurstSz', 0xffffffff, 0);
    const packet = optional(given['typicalPktSz'], 'attr.typicalPktSz', 0xffff, 0);
    check(-Math.abs(native.modifyQpRateLimit(qp, rate, burst, packet)), 'ibv_modify_qp_rate_limit');
  }

  /** `ibv_query_ece`: the enhancements that the connection could have. EOPNOTSUPP where the device has none. */
  queryEce(): { vendorId: number; options: number } {
    return checked(native.queryEce(this.use('ibv_query_ece')), 'ibv_query_ece');
  }

  /** `ibv_set_ece`: those that both ends have, before the queue pair leaves INIT. */
  setEce(ece: { vendorId: number; options: number }): void {
    const qp = this.use('ibv_set_ece');
    const given = object(ece, 'ece', ['vendorId', 'options']);
    const vendorId = integer(given['vendorId'], 'ece.vendorId', 0, 0xffffffff);
    const options = integer(given['options'], 'ece.options', 0, 0xffffffff);
    check(-Math.abs(native.setEce(qp, vendorId, options)), 'ibv_set_ece');
  }

  /**
   * `ibv_query_qp_data_in_order`: whether data of that operation is written in its order, so that a program may watch
   * its last byte. False where the library cannot tell.
   */
  queryDataInOrder(opcode: WrOpcode, flags = 0): boolean {
    const qp = this.use('ibv_query_qp_data_in_order');
    integer(opcode, 'opcode', 0, 0xffff);
    optional(flags, 'flags', 0x7fffffff, 0);
    return native.queryQpDataInOrder(qp, opcode, flags) > 0;
  }

  /**
   * `ibv_create_flow`: the frames that a RAW_PACKET or UD queue pair receives.
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
   * `ibv_post_send` of one or many requests, in their order, in one native call. A queue pair that was made with
   * `sendOpsFlags` posts them by `ibv_wr_start`, the builders `ibv_wr_*` and `ibv_wr_complete`: all or none.
   *
   * If one is refused, those before it are posted, as in C: the error's `posted` tells how many. Errors in the values
   * themselves are found before anything is posted.
   *
   * @throws TypeError, RangeError with the argument's path, for instance `wr[2].sgList[0]`
   * @throws VerbsError ENOMEM (the queue is full), EINVAL (state, type or limits of the queue pair)
   * @example
   * qp.postSend({ opcode: WrOpcode.SEND, wrId: 7, sendFlags: SendFlags.SIGNALED, sgList: [{ mr, length: 64 }] });
   */
  postSend(wr: SendWr | readonly SendWr[]): void {
    const qp = this.use('ibv_post_send');
    const kind = { ud: this.qpType === QpType.UD, xrc: this.qpType === QpType.XRC_SEND };
    const write = (space: RecordSpace, one: unknown, path: RequestPath) => {
      writeSend(space, one, path, kind);
    };
    const limits = this.#sendLimits('ibv_post_send');
    postRequests(wr, write, (batch, count) => native.postSend(qp, batch.bytes, count), limits);
  }

  /**
   * `ibv_post_send` of the requests of a {@link SendBatch} from slot `first` on, in one native call that allocates
   * nothing. The batch may be changed and posted again as soon as this returns.
   *
   * @param count default: up to the end of the batch
   * @throws TypeError, RangeError with the request's path, for instance `batch[2].sgList[0]`; as with `postSend`, those
   *   before the request at fault are posted, and the error's `posted` tells how many
   * @throws VerbsError as with `postSend`
   * @example qp.postSendBatch(batch, 0, 16);
   */
  postSendBatch(batch: SendBatch, first = 0, count?: number): void {
    const qp = this.use('ibv_post_send');
    const bytes = selectRequests(batch, 'SendBatch', first, count);
    const code = native.postSend(qp, bytes, count ?? batch.capacity - first);
    if (code !== 0) failBatch(code, bytes, first, this.#sendLimits('ibv_post_send'));
  }

  /**
   * `ibv_post_recv` of one or many requests; errors as with {@link QueuePair.postSend}.
   *
   * @example qp.postRecv([{ wrId: 1, sgList: [{ mr, offset: 0, length: 4096 }] }]);
   */
  postRecv(wr: RecvWr | readonly RecvWr[]): void {
    const qp = this.use('ibv_post_recv');
    postRequests(wr, writeRecv, (batch, count) => native.postRecv(qp, batch.bytes, count), this.#recvLimits());
  }

  /**
   * `ibv_post_recv` of the requests of a {@link RecvBatch}; as with {@link QueuePair.postSendBatch}.
   *
   * @example qp.postRecvBatch(batch, done.wrId(i), 1);
   */
  postRecvBatch(batch: RecvBatch, first = 0, count?: number): void {
    const qp = this.use('ibv_post_recv');
    const bytes = selectRequests(batch, 'RecvBatch', first, count);
    const code = native.postRecv(qp, bytes, count ?? batch.capacity - first);
    if (code !== 0) failBatch(code, bytes, first, this.#recvLimits());
  }

  #sendLimits(syscall: string): Limits {
    return { syscall, maxSge: this.cap.maxSendSge, maxWr: this.cap.maxSendWr };
  }

  #recvLimits(): Limits {
    return { syscall: 'ibv_post_recv', maxSge: this.cap.maxRecvSge, maxWr: this.cap.maxRecvWr };
  }

  /**
   * Posts a request with SIGNALED and waits for its completion, on the completion channel of `sendCq`. Node's loop goes on
   * meanwhile. Many may be under way at a time; the completions of other requests stay in the queue for those who poll it.
   *
   * @param options `signal` ends the waiting, not the request
   * @throws CompletionError if it completes with another status than SUCCESS
   * @throws VerbsError, TypeError, RangeError as {@link QueuePair.postSend}; EINVAL if `sendCq` has no channel;
   *   ERR_VERBS_CLOSED if the queue pair is closed before it completes
   * @example
   * const { byteLen } = await qp.send({ opcode: WrOpcode.RDMA_READ, sgList: [{ mr }], remoteAddr, rkey });
   */
  async send(wr: SendWr, options: WaitOptions = {}): Promise<WorkCompletion> {
    const { wrId, sendFlags } = awaitable(wr);
    const cq = this.#queueOf(this.sendCq, 'sendCq', 'ibv_post_send');
    return cq[kAwait](this, wrId, options, (id) => {
      this.postSend({ ...wr, wrId: id, sendFlags: sendFlags | SendFlags.SIGNALED });
    });
  }

  /**
   * Posts a receive request and waits for its message, as {@link QueuePair.send} does.
   *
   * @example
   * const { byteLen } = await qp.recv({ sgList: [{ mr }] }, { signal: AbortSignal.timeout(1000) });
   */
  async recv(wr: RecvWr, options: WaitOptions = {}): Promise<WorkCompletion> {
    const { wrId } = awaitable(wr);
    const cq = this.#queueOf(this.recvCq, 'recvCq', 'ibv_post_recv');
    return cq[kAwait](this, wrId, options, (id) => {
      this.postRecv({ ...wr, wrId: id });
    });
  }

  #queueOf(cq: CompletionQueue | undefined, name: string, syscall: string): CompletionQueue {
    this.use(syscall);
    if (cq !== undefined) return cq;
    throw new VerbsError(22, syscall, { hint: `this queue pair has no ${name}` });
  }

  protected override onClosed(): void {
    this.sendCq?.[kAbandon](this);
    this.recvCq?.[kAbandon](this);
    this.context[kElement](this.#id, undefined);
  }

  protected override describe() {
    return {
      qpType: { [inspect.custom]: () => enumName(QpType, this.qpType) },
      qpNum: { [inspect.custom]: () => `0x${this.qpNum.toString(16)}` },
      cap: this.cap,
    };
  }
}
