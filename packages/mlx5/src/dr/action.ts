import { Resource } from '@verbs/core/provider';
import type { NativeHandle } from '../native/index.js';
import type { Domain } from './domain.js';

type Parent = InstanceType<typeof Resource>;

/**
 * `struct mlx5dv_dr_action`: an action of rules. Made by the functions `dr.createAction*`; `close()` is
 * `mlx5dv_dr_action_destroy`. It keeps the objects that it was made of.
 */
export class Action extends Resource {
  /** The domain whose library made it. The C functions of some actions take no domain. */
  readonly domain: Domain;
  /** The end of the C function's name, `packet_reformat`. */
  readonly kind: string;

  /** @internal What it was made of. */
  readonly others: readonly Parent[];
  /** @internal What it does, in more words than its kind. */
  readonly detail: string | undefined;
  /** @internal {@link dr.ActionFlags}, of the kinds that have them. */
  readonly flags: number | undefined;

  /** @internal */
  constructor(
    domain: Domain,
    handle: NativeHandle,
    kind: string,
    others: readonly Parent[] = [],
    { detail, flags }: { detail?: string | undefined; flags?: number | undefined } = {},
  ) {
    super('Action', handle, 'mlx5dv_dr_action_destroy', [...new Set<Parent>([domain, ...others])]);
    this.domain = domain;
    this.kind = kind;
    this.others = others;
    this.detail = detail;
    this.flags = flags;
  }

  protected override describe(): Record<string, unknown> {
    return { kind: this.kind };
  }
}
