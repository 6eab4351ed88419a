import { native, type NativeHandle } from '../base/native.js';
import { COMPLETION } from '../base/records.js';
import { kChildren, kSeeState, kSerial } from '../base/symbols.js';
import { completionErrors, qpStates } from '../diagnostics/channels.js';
import { WcStatus } from '../enums/index.js';
import { kindOf } from '../lifetime/resource.js';
import type { QueuePair } from '../qp/queue-pair.js';
import type { CompletionQueue } from './completion-queue.js';
import { WorkCompletion } from './work-completion.js';

/**
 * Failed completions that somebody subscribed to, of the call that runs. Subscribers may call anything, so they are
 * told at its end, when the queue is in order again.
 */
const found: WorkCompletion[] = [];

/** Whether anybody wants to hear of failed completions, or of the change of state that comes with them. */
export function failuresObserved(): boolean {
  return completionErrors.hasSubscribers || qpStates.hasSubscribers;
}

/** `native.poll`, and a look for failures among what it found if anybody wants to know. */
export function pollRecords(cq: NativeHandle, bytes: Uint8Array, max: number, timestamps: boolean): number {
  const count = native.poll(cq, bytes, max);
  if (count > 0 && failuresObserved()) noticeRecords(count, bytes, timestamps);
  return count;
}

function noticeRecords(count: number, bytes: Uint8Array, timestamps: boolean): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  for (let at = 0; at < count * COMPLETION.BYTES; at += COMPLETION.BYTES) noticeRecord(view, at, timestamps);
}

/** Looks at one record, for somebody who listens. */
export function noticeRecord(view: DataView, at: number, timestamps: boolean): void {
  if (view.getUint32(at + COMPLETION.STATUS, true) === WcStatus.SUCCESS) return;
  found.push(new WorkCompletion(view, at, timestamps));
}

/** The same for one that was decoded already. */
export function noticeFailure(wc: WorkCompletion): void {
  if (failuresObserved()) found.push(wc);
}

/** Tells of what was noticed. */
export function reportFailures(cq: CompletionQueue): void {
  if (found.length !== 0) publish(cq, found.splice(0));
}

function publish(cq: CompletionQueue, failures: readonly WorkCompletion[]): void {
  const queuePairs = new Map<number, QueuePair>();
  for (const child of cq[kChildren] as unknown[]) {
    if (kindOf(child) !== 'QueuePair') continue;
    const qp = child as QueuePair;
    queuePairs.set(qp.qpNum, qp);
  }
  for (const wc of failures) {
    const qp = queuePairs.get(wc.qpNum);
    if (completionErrors.hasSubscribers) {
      completionErrors.publish({ id: cq[kSerial], cq, ...(qp && { qp }), wc });
    }
    qp?.[kSeeState]('completion');
  }
}
