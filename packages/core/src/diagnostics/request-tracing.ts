import { tracingChannel } from 'node:diagnostics_channel';
import { excused } from '../base/handled.js';
import { kSerial } from '../base/symbols.js';
import type { RequestMessage } from '../types/diagnostics.js';
import type { QueuePair, WorkCompletion } from '../types/objects.js';

const requests = tracingChannel<unknown, RequestMessage>('verbs:request');

/** Runs an awaited request, and publishes it on the channels `tracing:verbs:request:*`. */
export function traced(
  qp: QueuePair,
  { method, wr }: Pick<RequestMessage, 'method' | 'wr'>,
  run: () => Promise<WorkCompletion>,
): Promise<WorkCompletion> {
  if (!requests.hasSubscribers) return promised(run);
  return excused(requests.tracePromise(() => promised(run), { id: qp[kSerial], qp, method, wr }));
}

/** An exception of `run` rejects: an async function would do the same with one promise more. */
function promised(run: () => Promise<WorkCompletion>): Promise<WorkCompletion> {
  try {
    return run();
  } catch (error) {
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- a getter of the program's may throw anything
    return Promise.reject(error);
  }
}
