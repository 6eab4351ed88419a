import { errno } from '../base/errno.js';
import { checked, VerbsError } from '../base/errors.js';
import { native } from '../base/native.js';
import { kAwait } from '../base/symbols.js';
import { object } from '../base/validate.js';
import type { WaitOptions } from '../base/wait-options.js';
import type { CompletionQueue } from '../completion/completion-queue.js';
import type { WorkCompletion } from '../completion/work-completion.js';
import { traced } from '../diagnostics/request-tracing.js';
import { QpType, SendFlags, WrOpcode } from '../enums/index.js';
import type { MwBindInfo } from '../memory/bind-info.js';
import type { MemoryWindow } from '../memory/memory-window.js';
import { awaitable, failBatch, type Limits, postRequests, selectRequests } from '../posting/posting.js';
import type { RecvBatch } from '../posting/recv-batch.js';
import type { RequestPath } from '../posting/request-path.js';
import { type RecordSpace, writeRecv, writeSend } from '../posting/request-records.js';
import type { SendBatch } from '../posting/send-batch.js';
import type { RecvWr, SendWr } from '../posting/work-request.js';
import { nativeFlowAttr } from './flow-attr.js';
import type { FlowAttr } from './flow-spec.js';
import { Flow } from './flow.js';
import { QueuePairControl } from './queue-pair-control.js';

/**
 * `ibv_qp`: where work requests are posted. Made by {@link ProtectionDomain.createQp}; `close()` is `ibv_destroy_qp`.
 *
 * The memory of a posted request stays valid until its completion was polled, or that of a later signaled request of
 * the same queue, whatever becomes of the JavaScript objects meanwhile. The same holds for the queue's room: at most
 * `cap.maxSendWr` requests are outstanding in that sense.
 *
 * Hold it as long as its peer needs it, also if it only answers: like every object it is closed when it is collected.
 */
export class QueuePair<out T extends number = number> extends QueuePairControl<T> {
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
   * @example qp.postSendBatch(sends, 0, 16); // the first 16 of them
   */
  postSendBatch(batch: SendBatch, first = 0, count?: number): void {
    const qp = this.use('ibv_post_send');
    const bytes = selectRequests(batch, 'SendBatch', first, count);
    const code = native.postSend(qp, bytes, count ?? batch.capacity - first);
    if (code !== 0) failBatch(code, bytes, first, this.#sendLimits('ibv_post_send'));
  }

  /**
   * `ibv_post_recv` of one or many requests, in their order, in one native call.
   *
   * @throws TypeError, RangeError, VerbsError as {@link QueuePair.postSend}; EINVAL also for a queue pair with an `srq`
   * @example qp.postRecv([{ wrId: 1, sgList: [{ mr, offset: 0, length: 4096 }] }]);
   */
  postRecv(wr: RecvWr | readonly RecvWr[]): void {
    const qp = this.use('ibv_post_recv');
    postRequests(wr, writeRecv, (batch, count) => native.postRecv(qp, batch.bytes, count), this.#recvLimits());
  }

  /**
   * `ibv_post_recv` of the requests of a {@link RecvBatch}; as with {@link QueuePair.postSendBatch}.
   *
   * @throws TypeError, RangeError, VerbsError as {@link QueuePair.postSendBatch}
   * @example
   * // With slots as `wrId`: each goes back into the queue when it was used.
   * const count = cq.pollBatch(completions);
   * for (let i = 0; i < count; i++) qp.postRecvBatch(receives, Number(completions.wrId(i)), 1);
   */
  postRecvBatch(batch: RecvBatch, first = 0, count?: number): void {
    const qp = this.use('ibv_post_recv');
    const bytes = selectRequests(batch, 'RecvBatch', first, count);
    const code = native.postRecv(qp, bytes, count ?? batch.capacity - first);
    if (code !== 0) failBatch(code, bytes, first, this.#recvLimits());
  }

  /**
   * `ibv_bind_mw`: opens a window of type 1, or closes it (without `bindInfo.mr`). It completes like a send request; when
   * this returns the window has its new rkey. Every region that a window was to be bound to stays registered until it is
   * closed or the window is, for a bind may fail later than it is posted.
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

  #sendLimits(syscall: string): Limits {
    return { queue: this, syscall, maxSge: this.cap.maxSendSge, maxWr: this.cap.maxSendWr };
  }

  #recvLimits(): Limits {
    return { queue: this, syscall: 'ibv_post_recv', maxSge: this.cap.maxRecvSge, maxWr: this.cap.maxRecvWr };
  }

  /**
   * Posts a request with SIGNALED (`ibv_post_send`) and waits for its completion, on the completion channel of `sendCq`. Node's loop goes on
   * meanwhile. Many may be under way at a time; the completions of other requests stay in the queue for those who poll it.
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
  send(wr: SendWr, options: WaitOptions = {}): Promise<WorkCompletion> {
    return traced(this, { method: 'send', wr }, () => this.#send(wr, options));
  }

  async #send(wr: SendWr, options: WaitOptions): Promise<WorkCompletion> {
    const { wrId, sendFlags } = awaitable(wr);
    const cq = this.#queueOf(this.sendCq, 'sendCq', 'ibv_post_send');
    return cq[kAwait](this, wrId, options, (id) => {
      this.postSend({ ...wr, wrId: id, sendFlags: sendFlags | SendFlags.SIGNALED });
    });
  }

  /**
   * Posts a receive request (`ibv_post_recv`) and waits for its message, as {@link QueuePair.send} does.
   *
   * @throws CompletionError, VerbsError, TypeError, RangeError as {@link QueuePair.send}; EINVAL if `recvCq` has no channel
   * @example
   * const { byteLen } = await qp.recv({ sgList: [{ mr }] }, { signal: AbortSignal.timeout(1000) });
   */
  recv(wr: RecvWr, options: WaitOptions = {}): Promise<WorkCompletion> {
    return traced(this, { method: 'recv', wr }, () => this.#recv(wr, options));
  }

  async #recv(wr: RecvWr, options: WaitOptions): Promise<WorkCompletion> {
    const { wrId } = awaitable(wr);
    const cq = this.#queueOf(this.recvCq, 'recvCq', 'ibv_post_recv');
    return cq[kAwait](this, wrId, options, (id) => {
      this.postRecv({ ...wr, wrId: id });
    });
  }

  #queueOf(cq: CompletionQueue | undefined, name: string, syscall: string): CompletionQueue {
    this.use(syscall);
    if (cq !== undefined) return cq;
    throw new VerbsError(errno.EINVAL, syscall, { hint: `this queue pair has no ${name}` });
  }
}
