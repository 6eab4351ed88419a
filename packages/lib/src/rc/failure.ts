import { type WorkCompletion, WcStatus } from '@verbs/core';
import { Failure } from '../failure/index.js';

/** The failure for a completion with an error; `peer` names the other side. */
export function completionFailure(wc: WorkCompletion, peer: string): Failure {
  if (wc.status === WcStatus.RETRY_EXC_ERR) {
    return new Failure(
      `${peer} no longer responds (${wc.statusText}): a packet was retransmitted and never acknowledged`,
      { hint: 'see whether its process still runs, then start both sides again' },
    );
  }
  return new Failure(`a work request failed: ${wc.statusText}`, { hint: 'start both sides again' });
}
