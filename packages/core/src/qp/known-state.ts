import { kSerial } from '../base/symbols.js';
import { qpStates } from '../diagnostics/channels.js';
import type { QpStateMessage } from '../diagnostics/messages.js';
import { enumName, QpState } from '../enums/index.js';
import { unwatchForLeak, watchForLeak } from '../lifetime/leak-warning.js';
import type { QueuePair } from './queue-pair.js';

/** The last known state of a queue pair. The device may change the state by itself; only a query finds that. */
export class KnownState {
  #state: number;

  constructor(state: number) {
    this.#state = state;
  }

  get name(): keyof typeof QpState {
    return enumName(QpState, this.#state) as keyof typeof QpState;
  }

  /** Only the program can change it, so a query is needless. */
  get lasting(): boolean {
    return this.#state === QpState.ERR || this.#state === QpState.RESET;
  }

  /** Records the present state, and publishes a change. */
  see(qp: QueuePair, state: number, cause: QpStateMessage['cause']): void {
    if (state === this.#state) return;
    const from = this.name;
    this.#state = state;
    // From here on a peer may send to it.
    if (state === QpState.RTR) watchForLeak(qp, 'QueuePair', 'its peers get no responses any more');
    else if (this.lasting) unwatchForLeak(qp);
    if (!qpStates.hasSubscribers) return;
    qpStates.publish({ id: qp[kSerial], qp, qpNum: qp.qpNum, from, to: this.name, cause });
  }
}
