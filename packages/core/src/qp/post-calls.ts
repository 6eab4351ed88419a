import { errno } from '../base/errno.js';
import { VerbsError } from '../base/errors.js';
import { fields, unchecked } from '../base/fields.js';
import { native, type NativeHandle } from '../base/native.js';
import { kAwait, kVacancies } from '../base/symbols.js';
import type { WaitOptions } from '../base/wait-options.js';
import type { CompletionQueue } from '../completion/completion-queue.js';
import { ReceiveElements } from '../posting/receive-elements.js';
import type { WorkCompletion } from '../completion/work-completion.js';
import { QpType, SendFlags, WrOpcode } from '../enums/index.js';
import { awaitable, failBatch, type Limits, postRequests, selectRequests } from '../posting/posting.js';
import type { RecvBatch } from '../posting/recv-batch.js';
import type { RequestPath } from '../posting/request-path.js';
import { type RecordSpace, writeRecv, writeSend } from '../posting/request-records.js';
import type { SendBatch } from '../posting/send-batch.js';
import type { RecvWr, SendWr } from '../posting/work-request.js';
import type { QueuePair } from './queue-pair.js';

// The post calls of a queue pair. `handle` is the native handle, which the calling method has checked.

const bindRequest = fields({ wrId: unchecked, sendFlags: unchecked, bindInfo: unchecked });

function sendLimits(qp: QueuePair, syscall: string): Limits {
  return { queue: qp, syscall, maxSge: qp.cap.maxSendSge, maxWr: qp.cap.maxSendWr };
}

function recvLimits(qp: QueuePair): Limits {
  return { queue: qp, syscall: 'ibv_post_recv', maxSge: qp.cap.maxRecvSge, maxWr: qp.cap.maxRecvWr };
}

export function postSend(qp: QueuePair, handle: NativeHandle, wr: unknown): void {
  const kind = { ud: qp.qpType === QpType.UD, xrc: qp.qpType === QpType.XRC_SEND };
  const write = (space: RecordSpace, one: unknown, path: RequestPath) => {
    writeSend(space, one, path, kind);
  };
  const limits = sendLimits(qp, 'ibv_post_send');
  postRequests(wr, write, (batch, count) => native.postSend(handle, batch.bytes, count), limits);
}

export function postSendBatch(
  qp: QueuePair,
  handle: NativeHandle,
  batch: SendBatch,
  first: number,
  count: number | undefined,
): void {
  const bytes = selectRequests(batch, 'SendBatch', first, count);
  const code = native.postSend(handle, bytes, count ?? batch.capacity - first);
  if (code !== 0) failBatch(code, bytes, first, sendLimits(qp, 'ibv_post_send'));
}

export function postRecv(qp: QueuePair, handle: NativeHandle, wr: unknown): void {
  postRequests(wr, writeRecv, (batch, count) => native.postRecv(handle, batch.bytes, count), recvLimits(qp));
}

export function postRecvBatch(
  qp: QueuePair,
  handle: NativeHandle,
  batch: RecvBatch,
  first: number,
  count: number | undefined,
): void {
  const bytes = selectRequests(batch, 'RecvBatch', first, count);
  const code = native.postRecv(handle, bytes, count ?? batch.capacity - first);
  if (code !== 0) failBatch(code, bytes, first, recvLimits(qp));
}

export function bindMw(qp: QueuePair, handle: NativeHandle, mw: unknown, bind: unknown): void {
  const given = bindRequest(bind, 'bind');
  const write = (space: RecordSpace) => {
    writeSend(space, { ...given, opcode: WrOpcode.BIND_MW, mw, rkey: 0 }, 'bind', { ud: false, xrc: false });
  };
  const limits = sendLimits(qp, 'ibv_bind_mw');
  postRequests(undefined, write, (batch, count) => native.bindMw(handle, batch.bytes, count), limits);
}

/** Posts a send request with SIGNALED and awaits its completion. */
export function awaitSend(qp: QueuePair, wr: SendWr, { signal }: WaitOptions): Promise<WorkCompletion> {
  const { wrId, sendFlags } = awaitable(wr);
  return queueOf(qp.sendCq, 'sendCq', 'ibv_post_send')[kAwait]({ qp, wrId, signal }, (id) => {
    qp.postSend({ ...wr, wrId: id, sendFlags: sendFlags | SendFlags.SIGNALED });
  });
}

/** Posts a receive request and awaits its completion. */
export function awaitRecv(qp: QueuePair, wr: RecvWr, { signal }: WaitOptions): Promise<WorkCompletion> {
  const { wrId } = awaitable(wr);
  const cq = queueOf(qp.recvCq, 'recvCq', 'ibv_post_recv');
  const elements = signal !== undefined || cq[kVacancies] ? new ReceiveElements(wr) : undefined;
  return cq[kAwait]({ qp, wrId, elements, signal }, (id) => {
    qp.postRecv({ ...wr, wrId: id });
  });
}

function queueOf(cq: CompletionQueue | undefined, name: string, syscall: string): CompletionQueue {
  if (cq !== undefined) return cq;
  throw new VerbsError(errno.EINVAL, syscall, { hint: `this queue pair has no ${name}` });
}
