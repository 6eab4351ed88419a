import { type Context, type FlowAttrType, FlowFlags } from '@verbs/core';
import { fields, inspection, maybe, or, Resource, u16, u32, u64, u8, unchecked } from '@verbs/core/provider';
import { copyOf } from '../base/bytes.js';
import { made } from '../base/calls.js';
import { FlowMatcherMask, FlowTableType, type MatchCriteria } from '../base/enums.js';
import { forContext } from '../base/libraries.js';
import { maskOf, type MatchValue } from '../match/match-value.js';
import { native, type NativeHandle } from '../native/index.js';

/** `struct mlx5dv_flow_matcher_attr`. */
export interface FlowMatcherAttr {
  /** The bits that the flows compare; default none, so that every packet matches. Values are ignored here. */
  matchMask?: MatchValue;
  /** {@link MatchCriteria}, or-ed: the parts of the mask. Default: the parts of a mask by name; 0 for bytes. */
  matchCriteriaEnable?: MatchCriteria;
  /** 0 to 15, the smallest first; default 0. A larger one is accepted here, and refused at the first flow (ENOMEM). */
  priority?: number;
  /** {@link FlowTableType}; without it NIC_RX, or NIC_TX with FlowFlags.EGRESS. */
  ftType?: FlowTableType;
  /** core's `FlowFlags`, or-ed: EGRESS. Not together with `ftType`. */
  flags?: FlowFlags;
  /** For RDMA_TRANSPORT_RX and RDMA_TRANSPORT_TX: the port. Newer than rdma-core 44. */
  ibPort?: number;
  /** core's `FlowAttrType`: NORMAL, the default, is the only one. */
  type?: FlowAttrType;
  /** {@link FlowMatcherMask}, or-ed; default the bits of the given fields. */
  compMask?: bigint | number;
}

const checkAttr = fields({
  matchMask: unchecked,
  matchCriteriaEnable: maybe(u8()),
  priority: or(u16(), 0),
  ftType: maybe(u32()),
  flags: or(u32(), 0),
  ibPort: maybe(u32()),
  type: or(u32(), 0),
  compMask: maybe(u64()),
});

/**
 * `struct mlx5dv_flow_matcher`: the bits of packets that its flows compare, and their priority. Made by
 * {@link createFlowMatcher}; `close()` is `mlx5dv_destroy_flow_matcher`, after its flows have been closed.
 */
export class FlowMatcher extends Resource {
  /** The open device that it belongs to. */
  readonly context: Context;
  /** Matchers with a lower number are tried earlier. */
  readonly priority: number;
  /** See {@link FlowTableType}; undefined if only `flags` was given, or `compMask` leaves it out. */
  readonly ftType: FlowTableType | undefined;
  /** See {@link MatchCriteria}. */
  readonly matchCriteriaEnable: MatchCriteria;
  /** A copy of the mask. */
  readonly matchMask: Uint8Array;
  /** @internal The table of its flows, also where only `flags` was given. */
  readonly table: FlowTableType;

  /** @internal */
  constructor(
    context: Context,
    handle: NativeHandle,
    attr: { priority: number; matchCriteriaEnable: number; matchMask: Uint8Array; flags: number },
    ftType: number | undefined,
  ) {
    super('FlowMatcher', handle, 'mlx5dv_destroy_flow_matcher', [context]);
    this.context = context;
    this.priority = attr.priority;
    this.ftType = ftType;
    this.matchCriteriaEnable = attr.matchCriteriaEnable;
    this.matchMask = copyOf(attr.matchMask);
    const implied = (attr.flags & FlowFlags.EGRESS) === 0 ? FlowTableType.NIC_RX : FlowTableType.NIC_TX;
    this.table = (ftType as FlowTableType | undefined) ?? implied;
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
  const given = checkAttr(attr, 'attr');
  const { mask: matchMask, matchCriteriaEnable } = maskOf(given.matchMask, 'attr.matchMask', given.matchCriteriaEnable);
  const implied =
    (given.ftType === undefined ? 0 : FlowMatcherMask.FT_TYPE) |
    (given.ibPort === undefined ? 0 : FlowMatcherMask.IB_PORT);
  const { ftType = 0, ibPort = 0, compMask = BigInt(implied) } = given;
  const complete = { ...given, matchCriteriaEnable, matchMask, compMask, ftType, ibPort };
  const matcher = made(native.createFlowMatcher(library, handle, complete), { library, syscall });
  // The library takes no field that the mask leaves out.
  const typed = (compMask & BigInt(FlowMatcherMask.FT_TYPE)) !== 0n;
  return new FlowMatcher(ctx, matcher, complete, typed ? ftType : undefined);
}
