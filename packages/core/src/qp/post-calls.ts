import { errno } from '../base/errno.js';
import { VerbsError } from '../base/errors.js';
import { fields, unchecked } from '../base/fields.js';
import { native, type NativeHandle } from '../base/native.js';
import { PostError } from '../base/records.js';
import { kAwait, kPresentState, kVacancies } from '../base/symbols.js';
import { signalOf, type WaitOptions } from '../base/wait-options.js';
import type { CompletionQueue } from '../completion/completion-queue.js';
import { ReceiveElements } from '../posting/receive-elements.js';
import type { WorkCompletion } from '../completion/work-completion.js';
import { QpType, SendFlags, WrOpcode } from '../enums/index.js';
import type { BatchWriter } from '../posting/batch-writer.js';
import { awaitable, failBatch, type Limits, postRequests, selectRequests } from '../posting/posting.js';
import type { RecvBatch } from '../posting/recv-batch.js';
import type { RequestPath } from '../posting/request-path.js';
import { type OwnFields, type QueueKind, type RecordSpace, writeRecv, writeSend } from '../posting/request-records.js';
import type { SendBatch } from '../posting/send-batch.js';
import { noReceiveQueue, noSendQueue, recvReason, sendAt, sendReason } from '../reasons/post-reason.js';
import type { QueuePair } from '../types/objects.js';
import type { RecvWr, SendWr } from '../types/work-request.js';

const bindRequest = fields({ wrId: unchecked, sendFlags: unchecked, bindInfo: unchecked });

/** What the post calls of one queue pair have in common, made once: a post call allocates none of it. */
export class PostCalls {
  readonly sendLimits: Limits;
  readonly recvLimits: Limits;
  readonly #handle: NativeHandle;
  readonly #kind: QueueKind;

  /** `handle` is that of the queue pair, also after `close()`: the callers check that it is open. */
  constructor(qp: QueuePair, handle: NativeHandle) {
    this.#handle = handle;
    this.#kind = { ud: qp.qpType === QpType.UD, xrc: qp.qpType === QpType.XRC_SEND };
    const { maxSendSge, maxSendWr, maxRecvSge, maxRecvWr } = qp.cap;
    const queue = qp;
    const facts = () => ({
      qpType: qp.qpType,
      state: () => qp[kPresentState](),
      maxInlineData: qp.cap.maxInlineData,
      hasSrq: qp.srq !== undefined,
      matchesTags: qp.srq?.tagMatching !== undefined,
    });
    this.sendLimits = {
      ...{ queue, syscall: 'ibv_post_send', maxSge: maxSendSge, maxWr: maxSendWr },
      reason: (code, bytes, index) => {
        if (code === PostError.QUEUE_FULL && maxSendWr === 0) return noSendQueue(facts());
        return code < 0 ? undefined : sendReason(code, sendAt(bytes, index), facts());
      },
    };
    this.recvLimits = {
      ...{ queue, syscall: 'ibv_post_recv', maxSge: maxRecvSge, maxWr: maxRecvWr },
      reason: (code) => {
        if (code === PostError.QUEUE_FULL && maxRecvWr === 0) return noReceiveQueue(facts());
        return code < 0 ? undefined : recvReason(code, facts());
      },
    };
  }

  readonly #writeSend = (space: RecordSpace, one: unknown, path: RequestPath) => {
    writeSend(space, one, path, this.#kind);
  };
  readonly #callSend = (batch: BatchWriter, count: number) => native.postSend(this.#handle, batch.bytes, count);
  readonly #callRecv = (batch: BatchWriter, count: number) => native.postRecv(this.#handle, batch.bytes, count);

  send(wr: unknown): void {
    postRequests(wr, this.#writeSend, this.#callSend, this.sendLimits);
  }

  recv(wr: unknown): void {
    postRequests(wr, writeRecv, this.#callRecv, this.recvLimits);
  }

  /** One request with another `wrId` and flags than the program gave. */
  sendAs(wr: unknown, own: OwnFields): void {
    const write = (space: RecordSpace, one: unknown, path: RequestPath) => {
      writeSend(space, one, path, this.#kind, own);
    };
    postRequests(wr, write, this.#callSend, this.sendLimits);
  }

  recvAs(wr: unknown, wrId: bigint): void {
    const write = (space: RecordSpace, one: unknown, path: RequestPath) => {
      writeRecv(space, one, path, wrId);
    };
    postRequests(wr, write, this.#callRecv, this.recvLimits);
  }

  sendBatch(batch: SendBatch, first: number, count: number | undefined): void {
    const bytes = selectRequests(batch, 'SendBatch', first, count);
    const code = native.postSend(this.#handle, bytes, count ?? batch.capacity - first);
    if (code !== 0) failBatch(code, bytes, first, this.sendLimits);
  }

  recvBatch(batch: RecvBatch, first: number, count: number | undefined): void {
    const bytes = selectRequests(batch, 'RecvBatch', first, count);
    const code = native.postRecv(this.#handle, bytes, count ?? batch.capacity - first);
    if (code !== 0) failBatch(code, bytes, first, this.recvLimits);
  }

  bindMw(mw: unknown, bind: unknown): void {
    const given = bindRequest(bind, 'bind');
    const write = (space: RecordSpace) => {
      writeSend(space, { ...given, opcode: WrOpcode.BIND_MW, mw, rkey: 0 }, 'bind', { ud: false, xrc: false });
    };
    const limits = { ...this.sendLimits, syscall: 'ibv_bind_mw' };
    postRequests(undefined, write, (batch, count) => native.bindMw(this.#handle, batch.bytes, count), limits);
  }
}

/** Posts a send request with SIGNALED and awaits its completion. */
export function awaitSend(
  qp: QueuePair,
  calls: PostCalls,
  wr: SendWr,
  options: WaitOptions | undefined,
): Promise<WorkCompletion> {
  const signal = signalOf(options);
  const { wrId, sendFlags, opcode } = awaitable(wr);
  return queueOf(qp.sendCq, 'sendCq', 'ibv_post_send')[kAwait]({ qp, wrId, opcode, signal }, (id) => {
    calls.sendAs(wr, { wrId: id, sendFlags: sendFlags | SendFlags.SIGNALED });
  });
}

/** Posts a receive request and awaits its completion. */
export function awaitRecv(
  qp: QueuePair,
  calls: PostCalls,
  wr: RecvWr,
  options: WaitOptions | undefined,
): Promise<WorkCompletion> {
  const signal = signalOf(options);
  const { wrId } = awaitable(wr);
  const cq = queueOf(qp.recvCq, 'recvCq', 'ibv_post_recv');
  const elements = signal !== undefined || cq[kVacancies] ? new ReceiveElements(wr) : undefined;
  return cq[kAwait]({ qp, wrId, elements, signal }, (id) => {
    calls.recvAs(wr, id);
  });
}

function queueOf(cq: CompletionQueue | undefined, name: string, syscall: string): CompletionQueue {
  if (cq !== undefined) return cq;
  throw new VerbsError(errno.EINVAL, syscall, { hint: `this queue pair has no ${name}` });
}
