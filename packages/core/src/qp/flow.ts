import { brief } from '../base/inspection.js';
import type { NativeHandle } from '../base/native.js';
import { watchForLeak } from '../lifetime/leak-warning.js';
import { Resource } from '../lifetime/resource.js';
import type { QueuePair } from '../types/objects.js';

/**
 * `ibv_flow`: frames that a queue pair receives. Created by {@link QueuePair.createFlow}; `close()` is
 * `ibv_destroy_flow`.
 */
export class Flow extends Resource {
  /** The queue pair that receives the packets. */
  readonly qp: QueuePair;

  /** @internal */
  constructor(qp: QueuePair, handle: NativeHandle, others: readonly Resource[]) {
    super('Flow', handle, 'ibv_destroy_flow', [qp, ...others]);
    this.qp = qp;
    watchForLeak(this, 'Flow', 'its packets do not arrive any more');
  }

  protected override describe() {
    return { qp: brief(this.qp) };
  }
}
