import { kSerial } from '../base/symbols.js';
import { qpStates } from '../diagnostics/channels.js';
import { enumName, QpState } from '../enums/index.js';
import { unwatchForLeak, watchForLeak } from '../lifetime/leak-warning.js';
import type { QpStateMessage } from '../types/diagnostics.js';
import type { QueuePair } from '../types/objects.js';

/** The way to a queue pair that works in full. */
const WAY = ['RESET', 'INIT', 'RTR', 'RTS'] as const;

/** The last known state of a queue pair. The device may change the state by itself; only a query finds that. */
export class KnownState {
  #state: number;

  constructor(state: number) {
    this.#state = state;
  }

  get value(): number {
    return this.#state;
  }

  get name(): keyof typeof QpState {
    return enumName(QpState, this.#state) as keyof typeof QpState;
  }

  /** Where it stands on the way: `RESET > INIT > [RTR] > RTS`. */
  get picture(): string {
    const here = `[${this.name}]`;
    const way = WAY.map((name) => (name === this.name ? here : name)).join(' > ');
    return way.includes(here) ? way : `${way}, ${here}`;
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
