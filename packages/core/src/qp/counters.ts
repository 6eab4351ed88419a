import { check } from '../base/errors.js';
import { fields, u16, u31 } from '../base/fields.js';
import { brief } from '../base/inspection.js';
import { native, type NativeHandle } from '../base/native.js';
import { optional } from '../base/validate.js';
import type { CounterDescription, ReadCountersFlags } from '../enums/index.js';
import { handleOf, Resource } from '../lifetime/resource.js';
import type { Context } from '../types/objects.js';
import type { Flow } from './flow.js';

const point = fields({ counterDesc: u31(), index: u16() });

/**
 * `ibv_counters`: counters of flows. Created by {@link Context.createCounters}; `close()` is `ibv_destroy_counters`.
 *
 * @example
 * const counters = ctx.createCounters();
 * counters.attach({ counterDesc: CounterDescription.PACKETS, index: 0 });
 * qp.createFlow({ specs: [{ type: 'udp', val: { dstPort: 4789 } }, { type: 'count', counters }] });
 * const [packets] = counters.read();
 */
export class Counters extends Resource {
  /** The open device that it belongs to. */
  readonly context: Context;
  #size = 0;

  /** @internal */
  constructor(context: Context, handle: NativeHandle) {
    super('Counters', handle, 'ibv_destroy_counters', [context]);
    this.context = context;
  }

  /**
   * `ibv_attach_counters_point_flow`: the unit that is counted at an index, before the counters are used in a flow
   * ({@link FlowCount}), or for one flow that exists.
   *
   * @param attr `counterDesc` is one of {@link CounterDescription}, `index` the place in the result of `read`
   * @throws VerbsError EOPNOTSUPP, EINVAL, EBUSY
   */
  attach(attr: { counterDesc: CounterDescription; index: number }, flow?: Flow): void {
    const syscall = 'ibv_attach_counters_point_flow';
    const counters = this.use(syscall);
    const { counterDesc, index } = point(attr, 'attr');
    const handle = flow === undefined ? undefined : handleOf(flow, 'Flow', 'flow', syscall);
    check(-Math.abs(native.attachCounters(counters, counterDesc, index, handle)), syscall);
    this.#size = Math.max(this.#size, index + 1);
  }

  /**
   * `ibv_read_counters`: the values by their indices.
   *
   * @param flags see {@link ReadCountersFlags}; default 0
   * @throws VerbsError EINVAL, EOPNOTSUPP
   */
  read(flags: ReadCountersFlags = 0): BigUint64Array {
    const counters = this.use('ibv_read_counters');
    optional(flags, 'flags', 0x7fffffff, 0);
    const values = new BigUint64Array(this.#size);
    check(-Math.abs(native.readCounters(counters, values, flags)), 'ibv_read_counters');
    return values;
  }

  protected override describe() {
    return { size: this.#size, context: brief(this.context) };
  }
}
