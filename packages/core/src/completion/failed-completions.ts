import { COMPLETION } from '../base/records.js';
import { kChildren, kSeeState, kSerial } from '../base/symbols.js';
import { completionErrors, qpStates } from '../diagnostics/channels.js';
import { WcStatus } from '../enums/index.js';
import { kindOf } from '../lifetime/resource.js';
import type { CompletionQueue, QueuePair } from '../types/objects.js';
import { WorkCompletion } from './work-completion.js';

/**
 * The failed completions of the running call, collected only while a program subscribes to them. They are published at
 * the end of the call: subscribers may call anything, and the queue is consistent again by then.
 */
const collected: WorkCompletion[] = [];

/** Whether a program subscribes to failed completions, or to the changes of state that come with them. */
export function failuresObserved(): boolean {
  return completionErrors.hasSubscribers || qpStates.hasSubscribers;
}

/** Collects the failures among the first `count` records. */
export function collectFailures(view: DataView, count: number, timestamps: boolean): void {
  for (let at = 0; at < count * COMPLETION.BYTES; at += COMPLETION.BYTES) collectFailure(view, at, timestamps);
}

/** Collects the completion of one record if it failed. */
export function collectFailure(view: DataView, at: number, timestamps: boolean): void {
  if (view.getUint32(at + COMPLETION.STATUS, true) === WcStatus.SUCCESS) return;
  collected.push(new WorkCompletion(view, at, timestamps));
}

/** Collects a failed completion that is decoded already. */
export function collectDecoded(wc: WorkCompletion): void {
  if (failuresObserved()) collected.push(wc);
}

/** Publishes the collected failures, and reports to their queue pairs. */
export function publishFailures(cq: CompletionQueue): void {
  if (collected.length !== 0) publish(cq, collected.splice(0));
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
