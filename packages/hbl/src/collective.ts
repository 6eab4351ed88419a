import type { Context, ProtectionDomain } from '@verbs/core';
import { checked, fields, handleOf, u64, validate } from '@verbs/core/provider';
import type { CollSchedResourceType } from './enums.js';
import { forContext } from './libraries.js';
import { native } from './native.js';

/** `struct hbldv_coll_qp_attr`. */
export interface CollQpAttr {
  /** Whether the queue pairs are of collectives between machines; default false. */
  isScaleOut?: boolean;
  /** The ports that they are reserved on: bit n is port n. */
  portsMask: bigint | number;
}

const collQpAttr = fields({
  isScaleOut: (value: unknown, path: string) => validate.boolean(value, path, false),
  portsMask: u64(),
});

/**
 * `hbldv_reserve_coll_qps`: reserves one number of collective queue pairs on several ports. Of the Gaudi SDK's library.
 *
 * @returns the number
 * @throws VerbsError EOPNOTSUPP if the library does not have the function
 * @example const qpNum = reserveCollQps(pd, { portsMask: 0b110 });
 */
export function reserveCollQps(pd: ProtectionDomain, attr: CollQpAttr): number {
  const syscall = 'hbldv_reserve_coll_qps';
  const handle = handleOf(pd, 'ProtectionDomain', 'pd', syscall);
  const { isScaleOut, portsMask } = collQpAttr(attr, 'attr');
  const { vendor: hbl } = forContext(pd.context, syscall);
  return checked(native.reserveCollQps(hbl, handle, { isScaleOut: isScaleOut ? 1 : 0, portsMask }), syscall).qpNum;
}

/** `struct hbldv_coll_sched_resource`: a part of the scheduler of collectives. */
export interface CollSchedResource {
  /** What it is. */
  type: CollSchedResourceType;
  /** Its number among those of its type. */
  id: number;
  /** Bytes. */
  size: bigint;
  /** Its offset in physical memory. */
  paOffs: number;
  /** Where it is mapped in this process; 0 if it is not. */
  virtAddr: bigint;
}

/**
 * `hbldv_reserve_coll_sched_resources`: reserves the scheduler of collectives for the context, and tells its parts. Of
 * the Gaudi SDK's library.
 *
 * @throws VerbsError EOPNOTSUPP if the library does not have the function; EIO if it reports more than 256 parts
 * @example for (const { type, size } of reserveCollSchedResources(ctx)) console.log(type, size);
 */
export function reserveCollSchedResources(ctx: Context): CollSchedResource[] {
  const syscall = 'hbldv_reserve_coll_sched_resources';
  const { vendor: hbl, handle } = forContext(ctx, syscall);
  return checked(native.reserveCollSchedResources(hbl, handle), syscall);
}
