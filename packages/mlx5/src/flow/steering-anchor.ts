import type { Context } from '@verbs/core';
import { fields, or, Resource, u16, u32 } from '@verbs/core/provider';
import { made } from '../base/calls.js';
import type { FlowTableType } from '../base/enums.js';
import { forContext } from '../base/libraries.js';
import { native, type NativeHandle } from '../native/index.js';

/** `struct mlx5dv_steering_anchor_attr`. */
export interface SteeringAnchorAttr {
  /** {@link FlowTableType}. */
  ftType: FlowTableType;
  /** The priority in the root table, default 0. */
  priority?: number;
}

/**
 * `struct mlx5dv_steering_anchor`: a place in the root steering that tables of DEVX can point to. Made by
 * {@link createSteeringAnchor}; `close()` is `mlx5dv_destroy_steering_anchor`.
 */
export class SteeringAnchor extends Resource {
  /** The open device that it belongs to. */
  readonly context: Context;
  /** The flow table's number. */
  readonly id: number;

  /** @internal */
  constructor(context: Context, made: { handle: NativeHandle; id: number }) {
    super('SteeringAnchor', made.handle, 'mlx5dv_destroy_steering_anchor', [context]);
    this.context = context;
    this.id = made.id;
  }

  protected override describe() {
    return { id: this.id };
  }
}

const checkAttr = fields({ ftType: u32(), priority: or(u16(), 0) });

/**
 * `mlx5dv_create_steering_anchor`.
 *
 * @throws VerbsError EPERM (CAP_NET_RAW), EINVAL, EOPNOTSUPP
 */
export function createSteeringAnchor(ctx: Context, attr: SteeringAnchorAttr): SteeringAnchor {
  const syscall = 'mlx5dv_create_steering_anchor';
  const { library, handle } = forContext(ctx, syscall);
  const result = native.createSteeringAnchor(library, handle, checkAttr(attr, 'attr'));
  return new SteeringAnchor(ctx, made(result, { library, syscall }));
}
