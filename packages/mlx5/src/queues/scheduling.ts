import type { Context, QueuePair } from '@verbs/core';
import {
  fields,
  handle,
  handleOf,
  inspection,
  maybe,
  members,
  type Members,
  Resource,
  u32,
  uint8Array,
  validate,
} from '@verbs/core/provider';
import { limited } from '../base/bytes.js';
import { done, made } from '../base/calls.js';
import { forContext, forObject, libraryFor } from '../base/libraries.js';
import { native, type NativeHandle } from '../native/index.js';
import type { NativeSched } from '../native/resources.js';

const BW_SHARE = 1;
const MAX_AVG_BW = 2;

/** `struct mlx5dv_sched_attr`: the given fields set their bits in `flags`. */
export interface SchedAttr {
  /** The parent node; a node without a parent is a root. */
  parent?: SchedNode;
  /** The share among the children of the parent; a root has none. */
  bwShare?: number;
  /** Mbit/s at most; a root has no limit. */
  maxAvgBw?: number;
}

const bandwidth = { bwShare: maybe(u32()), maxAvgBw: maybe(u32()) };
const checkBandwidth = fields(bandwidth);

/** The attributes for a native call, from the fields that are present. */
function schedFields(given: { parent?: NativeHandle; bwShare?: number; maxAvgBw?: number }): NativeSched {
  const { parent, bwShare, maxAvgBw } = given;
  return {
    ...(parent === undefined ? {} : { parent }),
    flags: (bwShare === undefined ? 0 : BW_SHARE) | (maxAvgBw === undefined ? 0 : MAX_AVG_BW),
    bwShare: bwShare ?? 0,
    maxAvgBw: maxAvgBw ?? 0,
  };
}

/** The attributes of a change. The library wants the parent once more, although that stays. */
function changedFields(attr: unknown, parent: SchedNode | undefined, syscall: string): NativeSched {
  const given = checkBandwidth(attr, 'attr');
  return schedFields(
    parent === undefined ? given : { ...given, parent: handleOf(parent, 'SchedNode', 'parent', syscall) },
  );
}

/**
 * `struct mlx5dv_sched_node`: shares its bandwidth among its children. Made by {@link schedNodeCreate}; `close()` is
 * `mlx5dv_sched_node_destroy`.
 */
export class SchedNode extends Resource {
  /** The open device that it belongs to. */
  readonly context: Context;
  /** The parent, which shares its bandwidth with this node; undefined for a root. */
  readonly parent: SchedNode | undefined;

  /** @internal */
  constructor(context: Context, handle: NativeHandle, parent: SchedNode | undefined) {
    super('SchedNode', handle, 'mlx5dv_sched_node_destroy', parent === undefined ? [context] : [context, parent]);
    this.context = context;
    this.parent = parent;
  }

  /** `mlx5dv_sched_node_modify`: the place in the tree stays. @throws VerbsError EINVAL (a root), EOPNOTSUPP */
  modify(attr: Omit<SchedAttr, 'parent'>): void {
    const syscall = 'mlx5dv_sched_node_modify';
    const node = this.use(syscall);
    const library = libraryFor(this.context.device.library, syscall);
    done(native.schedNodeModify(node, changedFields(attr, this.parent, syscall)), { library, syscall });
  }

  protected override describe(): Record<string, unknown> {
    return { root: this.parent === undefined };
  }
}

/**
 * `struct mlx5dv_sched_leaf`: a class of bandwidth for queue pairs. Made by {@link schedLeafCreate}; `close()` is
 * `mlx5dv_sched_leaf_destroy`.
 */
export class SchedLeaf extends Resource {
  /** The open device that it belongs to. */
  readonly context: Context;
  /** The parent, which shares its bandwidth with this leaf. */
  readonly parent: SchedNode;

  /** @internal */
  constructor(context: Context, handle: NativeHandle, parent: SchedNode) {
    super('SchedLeaf', handle, 'mlx5dv_sched_leaf_destroy', [context, parent]);
    this.context = context;
    this.parent = parent;
  }

  /** `mlx5dv_sched_leaf_modify`: the place in the tree stays. @throws VerbsError EINVAL, EOPNOTSUPP */
  modify(attr: Omit<SchedAttr, 'parent'>): void {
    const syscall = 'mlx5dv_sched_leaf_modify';
    const leaf = this.use(syscall);
    const library = libraryFor(this.context.device.library, syscall);
    done(native.schedLeafModify(leaf, changedFields(attr, this.parent, syscall)), { library, syscall });
  }

  protected override describe(): Record<string, unknown> {
    return { parent: inspection.brief(this.parent) };
  }
}

/** `mlx5dv_sched_node_create`. @throws VerbsError EOPNOTSUPP, EINVAL (a share or a limit of a root) */
export function schedNodeCreate(ctx: Context, attr: SchedAttr = {}): SchedNode {
  const syscall = 'mlx5dv_sched_node_create';
  const { library, handle: context } = forContext(ctx, syscall);
  const check = fields({ ...bandwidth, parent: maybe(handle('SchedNode', syscall)) });
  const once = validate.object(attr, 'attr', check.names) as SchedAttr;
  const result = native.schedNodeCreate(library, context, schedFields(check(once, 'attr')));
  return new SchedNode(ctx, made(result, { library, syscall }), once.parent);
}

/** `mlx5dv_sched_leaf_create`. @throws VerbsError EOPNOTSUPP, EINVAL */
export function schedLeafCreate(ctx: Context, attr: SchedAttr & { parent: SchedNode }): SchedLeaf {
  const syscall = 'mlx5dv_sched_leaf_create';
  const { library, handle: context } = forContext(ctx, syscall);
  const check = fields({ ...bandwidth, parent: handle('SchedNode', syscall) });
  const once = validate.object(attr, 'attr', check.names) as { parent: SchedNode };
  const result = native.schedLeafCreate(library, context, schedFields(check(once, 'attr')));
  return new SchedLeaf(ctx, made(result, { library, syscall }), once.parent);
}

/**
 * `mlx5dv_modify_qp_sched_elem`: the leaves for the packets that the queue pair sends as requester and as responder;
 * without a leaf they have no limit.
 *
 * @throws VerbsError EOPNOTSUPP, EINVAL
 */
export function modifyQpSchedElem(qp: QueuePair, attr: { requestor?: SchedLeaf; responder?: SchedLeaf }): void {
  const syscall = 'mlx5dv_modify_qp_sched_elem';
  const { library, handle: queuePair } = forObject(qp, 'QueuePair', 'qp', syscall);
  const leaf = maybe(handle('SchedLeaf', syscall));
  const { requestor, responder } = fields({ requestor: leaf, responder: leaf })(attr, 'attr');
  done(native.modifyQpSchedElem(library, queuePair, requestor, responder), { library, syscall });
}

enum PpAllocFlagsValue {
  /** An own index, even if another entry has the same values. */
  DEDICATED_INDEX = 1,
}
/** `MLX5DV_PP_ALLOC_FLAGS_*`. */
export const PpAllocFlags: Members<typeof PpAllocFlagsValue> = members(PpAllocFlagsValue);
/** Or-ed values of {@link PpAllocFlags}, or 0. A number that comes from C is one as well; another enumeration's value is not. */
export type PpAllocFlags = PpAllocFlagsValue | 0;

/**
 * `struct mlx5dv_pp`: an entry of the packet pacing table. Made by {@link ppAlloc}; `close()` is `mlx5dv_pp_free`.
 */
export class PacketPacing extends Resource {
  /** The open device that it belongs to. */
  readonly context: Context;
  /** The number for commands that create send queues. */
  readonly index: number;

  /** @internal */
  constructor(context: Context, made: { handle: NativeHandle; index: number }) {
    super('PacketPacing', made.handle, 'mlx5dv_pp_free', [context]);
    this.context = context;
    this.index = made.index;
  }

  protected override describe(): Record<string, unknown> {
    return { index: this.index };
  }
}

/**
 * `mlx5dv_pp_alloc`.
 *
 * @param ppContext the bytes of `set_pp_rate_limit_context` of the device's manual
 * @param flags {@link PpAllocFlags}, default 0
 * @throws VerbsError EOPNOTSUPP, EINVAL, ENOSPC
 */
export function ppAlloc(ctx: Context, ppContext: Uint8Array, flags: PpAllocFlags = 0): PacketPacing {
  const syscall = 'mlx5dv_pp_alloc';
  const { library, handle } = forContext(ctx, syscall);
  limited(uint8Array(ppContext, 'ppContext'), 'ppContext');
  u32()(flags, 'flags');
  return new PacketPacing(ctx, made(native.ppAlloc(library, handle, ppContext, flags), { library, syscall }));
}
