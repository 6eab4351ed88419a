import { tracingChannel } from 'node:diagnostics_channel';
import { kSerial } from '../base/symbols.js';
import type { WorkCompletion } from '../completion/work-completion.js';
import type { QueuePair } from '../qp/queue-pair.js';
import type { RequestMessage } from './messages.js';

const requests = tracingChannel<unknown, RequestMessage>('verbs:request');

/** Runs an awaited request, and publishes it on the channels `tracing:verbs:request:*`. */
export function traced(
  qp: QueuePair,
  { method, wr }: Pick<RequestMessage, 'method' | 'wr'>,
  run: () => Promise<WorkCompletion>,
): Promise<WorkCompletion> {
  if (!requests.hasSubscribers) return run();
  return requests.tracePromise(run, { id: qp[kSerial], qp, method, wr });
}
