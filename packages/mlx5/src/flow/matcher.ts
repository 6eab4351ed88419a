import type { Context } from '@verbs/core';
import { inspection, Resource, validate } from '@verbs/core/provider';
import { made } from '../base/calls.js';
import { FlowMatcherMask, FlowTableType } from '../base/enums.js';
import { forContext } from '../base/libraries.js';
import { maskOf, type MatchValue } from '../match/match-value.js';
import { native, type NativeHandle } from '../native/index.js';

const U32 = 0xffffffff;

/** `struct mlx5dv_flow_matcher_attr`. */
export interface FlowMatcherAttr {
  /** What the flows look at; default nothing, so that they take every packet. The values do not matter here. */
  matchMask?: MatchValue;
  /** {@link MatchCriteria}, or-ed: the parts of the mask; default those that a mask by name uses, and 0 for bytes. */
  matchCriteriaEnable?: number;
  /** 0 to 15, the smallest first; default 0. */
  priority?: number;
  /** {@link FlowTableType}; without it NIC_RX, or NIC_TX with FlowFlags.EGRESS. */
  ftType?: number;
  /** core's `FlowFlags`, or-ed: EGRESS. Not together with `ftType`. */
  flags?: number;
  /** For RDMA_TRANSPORT_RX and RDMA_TRANSPORT_TX: the port. Newer than rdma-core 44. */
  ibPort?: number;
  /** core's `FlowAttrType`: NORMAL, the default, is the only one. */
  type?: number;
  /** {@link FlowMatcherMask}, or-ed; default what the given fields need. */
  compMask?: bigint | number;
}

const NAMES = ['matchMask', 'matchCriteriaEnable', 'priority', 'ftType', 'flags', 'ibPort', 'type', 'compMask'];

/**
 * `struct mlx5dv_flow_matcher`: which bits of packets the flows below it compare, and their priority. Made by
 * {@link createFlowMatcher}; `close()` is `mlx5dv_destroy_flow_matcher`, after its flows have been closed.
 */
export class FlowMatcher extends Resource {
  /** The open device that it belongs to. */
  readonly context: Context;
  /** The lower it is, the earlier it is tried. */
  readonly priority: number;
  /** See {@link FlowTableType}; undefined if `flags` said it. */
  readonly ftType: number | undefined;
  /** See {@link MatchCriteria}. */
  readonly matchCriteriaEnable: number;
  /** A copy of the mask. */
  readonly matchMask: Uint8Array;

  /** @internal */
  constructor(
    context: Context,
    handle: NativeHandle,
    attr: { priority: number; matchCriteriaEnable: number; matchMask: Uint8Array },
    ftType: number | undefined,
  ) {
    super('FlowMatcher', handle, 'mlx5dv_destroy_flow_matcher', [context]);
    this.context = context;
    this.priority = attr.priority;
    this.ftType = ftType;
    this.matchCriteriaEnable = attr.matchCriteriaEnable;
    this.matchMask = attr.matchMask.slice();
  }

  protected override describe() {
    const { priority, ftType, matchCriteriaEnable, matchMask } = this;
    const table = ftType === undefined ? undefined : inspection.named(FlowTableType, ftType);
    return { priority, ftType: table, matchCriteriaEnable, maskSize: matchMask.byteLength };
  }
}

/**
 * `mlx5dv_create_flow_matcher`.
 *
 * @throws TypeError, RangeError for a field that is misspelt or out of its range
 * @throws VerbsError EINVAL (both `ftType` and EGRESS; FDB outside of switchdev mode; a mask of more than 640 bytes),
 *   EOPNOTSUPP (an unknown `type` or bit of `compMask`)
 * @example
 * const matcher = createFlowMatcher(ctx, { ftType: FlowTableType.NIC_RX, matchMask: { outer: { udpDport: 4789 } } });
 */
export function createFlowMatcher(ctx: Context, attr: FlowMatcherAttr = {}): FlowMatcher {
  const syscall = 'mlx5dv_create_flow_matcher';
  const { library, handle } = forContext(ctx, syscall);
  const given = validate.object(attr, 'attr', NAMES);
  const field = (name: string, max: number) => validate.optional(given[name], `attr.${name}`, max, 0);
  const criteria = given['matchCriteriaEnable'] === undefined ? undefined : field('matchCriteriaEnable', 0xff);
  const { mask: matchMask, matchCriteriaEnable } = maskOf(given['matchMask'], 'attr.matchMask', criteria);
  const implied =
    (given['ftType'] === undefined ? 0 : FlowMatcherMask.FT_TYPE) |
    (given['ibPort'] === undefined ? 0 : FlowMatcherMask.IB_PORT);
  const fields = {
    type: field('type', U32),
    flags: field('flags', U32),
    priority: field('priority', 0xffff),
    matchCriteriaEnable,
    matchMask,
    compMask: BigInt(validate.u64(given['compMask'] ?? implied, 'attr.compMask')),
    ftType: field('ftType', U32),
    ibPort: field('ibPort', U32),
  };
  const matcher = made(native.createFlowMatcher(library, handle, fields), { library, syscall });
  return new FlowMatcher(ctx, matcher, fields, given['ftType'] === undefined ? undefined : fields.ftType);
}
