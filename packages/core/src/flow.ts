import type { NativeHandle } from './native.js';
import type { QueuePair } from './queue-pair.js';
import { Resource } from './resource.js';
import { brief } from './shown.js';

/**
 * `ibv_flow`: frames that a queue pair receives. Made by {@link QueuePair.createFlow}; `close()` is `ibv_destroy_flow`.
 */
export class Flow extends Resource {
  /** Who receives them. */
  readonly qp: QueuePair;

  /** @internal */
  constructor(qp: QueuePair, handle: NativeHandle, others: readonly Resource[]) {
    super('Flow', handle, 'ibv_destroy_flow', [qp, ...others]);
    this.qp = qp;
  }

  protected override describe() {
    return { qp: brief(this.qp) };
  }
}
