import { closedError } from '../base/errors.js';
import { fields, maybe, or, u31, u53, unchecked } from '../base/fields.js';
import { typeError } from '../base/validate.js';
import type { AccessFlags } from '../enums/index.js';
import { requestId, type Resource } from '../lifetime/resource.js';
import type { MemoryRegion } from './memory-region.js';

/** `struct ibv_mw_bind_info`: the part of a region that a memory window opens, and a peer's rights there. */
export interface MwBindInfo {
  /** A region created with AccessFlags.MW_BIND. Left out, the window is unbound. */
  mr?: MemoryRegion;
  /** Bytes from the region's start, default 0. */
  offset?: number;
  /** Bytes, default up to the region's end. */
  length?: number;
  /** See {@link AccessFlags}; default 0. Writing and atomics need LOCAL_WRITE on the region. */
  access?: AccessFlags;
}

const bind = fields({ mr: unchecked, offset: or(u53(), 0), length: maybe(u53()), access: or(u31(), 0) });

/** Checks every field by its path. `region` is the id of the memory region, 0 without one. */
export function bindInfo(
  value: unknown,
  path: string,
): { region: number; offset: number; length: number; access: number } {
  const { mr, offset, length, access } = bind(value, path);
  if (mr === undefined) return { region: 0, offset: 0, length: 0, access };
  const region = requestId(mr, 'MemoryRegion');
  if (region === undefined) throw typeError(`${path}.mr`, 'a MemoryRegion', mr);
  if ((mr as Resource).closed) throw closedError(`MemoryRegion in ${path}.mr`, 'ibv_bind_mw');
  const { length: whole } = mr as MemoryRegion;
  return { region, offset, length: length ?? Math.max(0, whole - offset), access };
}
