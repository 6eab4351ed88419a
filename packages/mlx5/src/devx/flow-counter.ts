import type { Context } from '@verbs/core';
import { fields, flag, or, range, validate } from '@verbs/core/provider';
import { viewOf } from './command.js';
import { DevxObject, type MadeObject, makeObj } from './object.js';

const ALLOC_FLOW_COUNTER = 0x939;
const QUERY_FLOW_COUNTER = 0x93b;
const HEADER_BYTES = 16;
const QUERY_BYTES = 32;
const STATISTICS_BYTES = 16;
const CLEAR = 0x80;

/** The values of a flow counter. */
export interface FlowStatistics {
  /** Packets. */
  packets: bigint;
  /** Bytes. */
  octets: bigint;
}

/**
 * A flow counter of the device, or a bulk of them, for FlowActionType.COUNTERS_DEVX and
 * {@link dr.createActionFlowCounter}. Made by {@link devx.allocFlowCounter}.
 */
export class FlowCounter extends DevxObject {
  /** The number of counters. */
  readonly size: number;

  /** @internal */
  constructor(context: Context, made: MadeObject, size: number) {
    super(context, made);
    this.size = size;
  }

  /**
   * QUERY_FLOW_COUNTER: packets and bytes so far.
   *
   * @param options `offset`: the counter's number in a bulk, default 0; `clear`: reset it to 0, default false
   * @throws VerbsError EREMOTEIO
   */
  read(options: { offset?: number; clear?: boolean } = {}): FlowStatistics {
    const { offset, clear } = fields({ offset: or(range(0, this.size - 1), 0), clear: flag() })(options, 'options');
    const input = new Uint8Array(QUERY_BYTES);
    const view = viewOf(input);
    view.setUint16(0, QUERY_FLOW_COUNTER);
    if (clear) view.setUint8(24, CLEAR);
    view.setUint32(28, this.id + offset);
    const answer = viewOf(this.query(input, HEADER_BYTES + STATISTICS_BYTES));
    return { packets: answer.getBigUint64(16), octets: answer.getBigUint64(24) };
  }

  protected override describe(): Record<string, unknown> {
    // Reading the values takes a command of the device: see read().
    return { id: this.id, size: this.size };
  }
}

/**
 * ALLOC_FLOW_COUNTER, by `mlx5dv_devx_obj_create`: one counter, or a bulk.
 *
 * @param options `bulk`: the number of counters, a power of two. Numbers below 128 and above 16384 need newer firmware
 * @throws VerbsError EREMOTEIO, EOPNOTSUPP
 * @example
 * const counter = devx.allocFlowCounter(ctx);
 * createFlow(matcher, {}, [{ type: FlowActionType.COUNTERS_DEVX, obj: counter }, qp]);
 * counter.read().packets;
 */
export function allocFlowCounter(ctx: Context, options: { bulk?: number } = {}): FlowCounter {
  const { bulk } = validate.object(options, 'options', ['bulk']);
  const input = new Uint8Array(HEADER_BYTES);
  viewOf(input).setUint16(0, ALLOC_FLOW_COUNTER);
  if (bulk !== undefined) putBulk(input, bulk);
  return new FlowCounter(ctx, makeObj(ctx, input, HEADER_BYTES), bulk === undefined ? 1 : (bulk as number));
}

/** The old field has one bit for each size, the new one the size's logarithm. */
function putBulk(input: Uint8Array, bulk: unknown): void {
  const log = Math.log2(validate.integer(bulk, 'options.bulk', 2, 2 ** 24));
  if (!Number.isInteger(log)) throw validate.rangeError('options.bulk', 'a power of two', bulk);
  if (log >= 7 && log <= 14) input[15] = 1 << (log - 7);
  else input[14] = log;
}
