import { kSerial } from '../base/symbols.js';
import { qpStates } from '../diagnostics/channels.js';
import type { QpStateMessage } from '../diagnostics/messages.js';
import { enumName, QpState } from '../enums/index.js';
import type { QueuePair } from './queue-pair.js';

/** The state that a queue pair was last seen in: what the device does by itself shows only when somebody looks. */
export class KnownState {
  #state: number;

  constructor(state: number) {
    this.#state = state;
  }

  get name(): keyof typeof QpState {
    return enumName(QpState, this.#state) as keyof typeof QpState;
  }

  /** Only the program leads out of it again, so that there is no need to look. */
  get lasting(): boolean {
    return this.#state === QpState.ERR || this.#state === QpState.RESET;
  }

  /** It is in this state now. */
  see(qp: QueuePair, state: number, cause: QpStateMessage['cause']): void {
    if (state === this.#state) return;
    const from = this.name;
    this.#state = state;
    if (!qpStates.hasSubscribers) return;
    qpStates.publish({ id: qp[kSerial], qp, qpNum: qp.qpNum, from, to: this.name, cause });
  }
}
