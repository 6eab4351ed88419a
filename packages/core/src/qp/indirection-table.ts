import { checked } from '../base/errors.js';
import { brief, hex } from '../base/inspection.js';
import { native } from '../base/native.js';
import { elements, valueError } from '../base/validate.js';
import { handleOf, Resource } from '../lifetime/resource.js';
import type { Context } from '../types/objects.js';
import type { ReceiveWorkQueue } from './receive-work-queue.js';

/** Far above the limit of any device. */
const MAX_QUEUES = 0xffff;

/**
 * `ibv_rwq_ind_table`: which receive work queue a packet's hash chooses. Created by {@link Context.createRwqIndTable};
 * `close()` is `ibv_destroy_rwq_ind_table`.
 */
export class IndirectionTable extends Resource {
  /** The open device that it belongs to. */
  readonly context: Context;
  /** The queues that a packet's hash chooses from, in this order. */
  readonly queues: readonly ReceiveWorkQueue[];
  /** `ibv_rwq_ind_table.ind_tbl_num`: the device's number for it. */
  readonly indTblNum: number;

  /** @internal */
  constructor(context: Context, queues: readonly ReceiveWorkQueue[]) {
    const syscall = 'ibv_create_rwq_ind_table';
    const list = elements(queues, 'queues', 'an array of ReceiveWorkQueue', MAX_QUEUES) as ReceiveWorkQueue[];
    const { length: count } = list;
    if (count === 0 || (count & (count - 1)) !== 0)
      throw valueError('queues', `has ${count} entries, not a power of two`);
    const handles = list.map((queue, i) => handleOf(queue, 'ReceiveWorkQueue', `queues[${i}]`, syscall));
    const made = checked(native.createRwqIndTable(handleOf(context, 'Context', 'context', syscall), handles), syscall);
    super('IndirectionTable', made.handle, 'ibv_destroy_rwq_ind_table', [context, ...new Set(list)]);
    this.context = context;
    this.queues = list;
    this.indTblNum = made.indTblNum;
  }

  protected override describe() {
    return { indTblNum: hex(this.indTblNum), queues: this.queues.map(brief), context: brief(this.context) };
  }
}
