import { types } from 'node:util';
import type { Context, QueuePair } from '@verbs/core';
import { handleOf, inspection, Resource, validate } from '@verbs/core/provider';
import { done, made } from '../base/calls.js';
import { forContext, forObject, libraryFor } from '../base/libraries.js';
import { native, type NativeHandle } from '../native/index.js';
import type { NativeSched } from '../native/resources.js';

const U32 = 0xffffffff;
const BW_SHARE = 1;
const MAX_AVG_BW = 2;

/** `struct mlx5dv_sched_attr`: what is given is in its `flags`. */
export interface SchedAttr {
  /** Below which node; a node without one is a root. */
  parent?: SchedNode;
  /** The share among siblings. */
  bwShare?: number;
  /** Mbit/s at most. */
  maxAvgBw?: number;
}

function schedFields(attr: SchedAttr, syscall: string): NativeSched {
  const given = validate.object(attr, 'attr', ['parent', 'bwShare', 'maxAvgBw']);
  const { parent } = given;
  const bit = (name: string, flag: number) => (given[name] === undefined ? 0 : flag);
  return {
    ...(parent === undefined ? {} : { parent: handleOf(parent, 'SchedNode', 'attr.parent', syscall) }),
    flags: bit('bwShare', BW_SHARE) | bit('maxAvgBw', MAX_AVG_BW),
    bwShare: validate.optional(given['bwShare'], 'attr.bwShare', U32, 0),
    maxAvgBw: validate.optional(given['maxAvgBw'], 'attr.maxAvgBw', U32, 0),
  };
}

/**
 * `struct mlx5dv_sched_node`: shares its bandwidth among its children. Made by {@link schedNodeCreate}; `close()` is
 * `mlx5dv_sched_node_destroy`.
 */
export class SchedNode extends Resource {
  /** The open device that it belongs to. */
  readonly context: Context;
  /** Who shares its bandwidth with this node; undefined for a root. */
  readonly parent: SchedNode | undefined;

  /** @internal */
  constructor(context: Context, handle: NativeHandle, parent: SchedNode | undefined) {
    super('SchedNode', handle, 'mlx5dv_sched_node_destroy', parent === undefined ? [context] : [context, parent]);
    this.context = context;
    this.parent = parent;
  }

  /** `mlx5dv_sched_node_modify`: the place in the tree stays. @throws VerbsError EINVAL, EOPNOTSUPP */
  modify(attr: Omit<SchedAttr, 'parent'>): void {
    const syscall = 'mlx5dv_sched_node_modify';
    const node = this.use(syscall);
    validate.object(attr, 'attr', ['bwShare', 'maxAvgBw']);
    const library = libraryFor(this.context.device.library, syscall);
    done(native.schedNodeModify(node, schedFields(attr, syscall)), { library, syscall });
  }

  protected override describe(): Record<string, unknown> {
    return { root: this.parent === undefined };
  }
}

/**
 * `struct mlx5dv_sched_leaf`: what queue pairs send by. Made by {@link schedLeafCreate}; `close()` is
 * `mlx5dv_sched_leaf_destroy`.
 */
export class SchedLeaf extends Resource {
  /** The open device that it belongs to. */
  readonly context: Context;
  /** Who shares its bandwidth with this leaf. */
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
    validate.object(attr, 'attr', ['bwShare', 'maxAvgBw']);
    const library = libraryFor(this.context.device.library, syscall);
    done(native.schedLeafModify(leaf, schedFields(attr, syscall)), { library, syscall });
  }

  protected override describe(): Record<string, unknown> {
    return { parent: inspection.brief(this.parent) };
  }
}

/** `mlx5dv_sched_node_create`. @throws VerbsError EOPNOTSUPP, EINVAL */
export function schedNodeCreate(ctx: Context, attr: SchedAttr = {}): SchedNode {
  const syscall = 'mlx5dv_sched_node_create';
  const { library, handle } = forContext(ctx, syscall);
  const result = native.schedNodeCreate(library, handle, schedFields(attr, syscall));
  return new SchedNode(ctx, made(result, { library, syscall }), attr.parent);
}

/** `mlx5dv_sched_leaf_create`. @throws VerbsError EOPNOTSUPP, EINVAL */
export function schedLeafCreate(ctx: Context, attr: SchedAttr & { parent: SchedNode }): SchedLeaf {
  const syscall = 'mlx5dv_sched_leaf_create';
  const { library, handle } = forContext(ctx, syscall);
  const fields = schedFields(attr, syscall);
  if (fields.parent === undefined) throw validate.typeError('attr.parent', 'a SchedNode', undefined);
  return new SchedLeaf(ctx, made(native.schedLeafCreate(library, handle, fields), { library, syscall }), attr.parent);
}

/**
 * `mlx5dv_modify_qp_sched_elem`: what the queue pair sends as requester and as responder goes by these leaves; without
 * one it goes freely.
 *
 * @throws VerbsError EOPNOTSUPP, EINVAL
 */
export function modifyQpSchedElem(qp: QueuePair, attr: { requestor?: SchedLeaf; responder?: SchedLeaf }): void {
  const syscall = 'mlx5dv_modify_qp_sched_elem';
  const { library, handle } = forObject(qp, 'QueuePair', 'qp', syscall);
  const given = validate.object(attr, 'attr', ['requestor', 'responder']);
  const leaf = (name: string) =>
    given[name] === undefined ? undefined : handleOf(given[name], 'SchedLeaf', `attr.${name}`, syscall);
  done(native.modifyQpSchedElem(library, handle, leaf('requestor'), leaf('responder')), { library, syscall });
}

/** `MLX5DV_PP_ALLOC_FLAGS_*`. */
export const PpAllocFlags = {
  /** An index of its own, also if another entry has the same values. */
  DEDICATED_INDEX: 1,
} as const;

/**
 * `struct mlx5dv_pp`: an entry of the packet pacing table. Made by {@link ppAlloc}; `close()` is `mlx5dv_pp_free`.
 */
export class PacketPacing extends Resource {
  /** The open device that it belongs to. */
  readonly context: Context;
  /** The number in commands that make send queues. */
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
 * @param ppContext `set_pp_rate_limit_context` of the device's manual
 * @param flags {@link PpAllocFlags}, default 0
 * @throws VerbsError EOPNOTSUPP, EINVAL, ENOSPC
 */
export function ppAlloc(ctx: Context, ppContext: Uint8Array, flags = 0): PacketPacing {
  const syscall = 'mlx5dv_pp_alloc';
  const { library, handle } = forContext(ctx, syscall);
  if (!types.isUint8Array(ppContext)) throw validate.typeError('ppContext', 'a Uint8Array', ppContext);
  validate.integer(flags, 'flags', 0, U32);
  return new PacketPacing(ctx, made(native.ppAlloc(library, handle, ppContext, flags), { library, syscall }));
}
