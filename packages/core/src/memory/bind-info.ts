import { closedError } from '../base/errors.js';
import type { MemoryRegion } from './memory-region.js';
import { requestId, type Resource } from '../lifetime/resource.js';
import { integer, object, optional, typeError } from '../base/validate.js';

/** `struct ibv_mw_bind_info`: the part of a region that a memory window opens, and what a peer may do there. */
export interface MwBindInfo {
  /** A region made with AccessFlags.MW_BIND. Left out, the window is unbound. */
  mr?: MemoryRegion;
  /** Bytes from the region's start, default 0. */
  offset?: number;
  /** Bytes, default up to the region's end. */
  length?: number;
  /** See {@link AccessFlags}; default 0. Writing and atomics need LOCAL_WRITE on the region. */
  access?: number;
}

const names = ['mr', 'offset', 'length', 'access'];

/** Checks every field by its path. `region` is the id of the memory region, 0 without one. */
export function bindInfo(
  value: unknown,
  path: string,
): { region: number; offset: number; length: number; access: number } {
  const given = object(value, path, names);
  const access = optional(given['access'], `${path}.access`, 0x7fffffff, 0);
  const mr = given['mr'];
  if (mr === undefined) return { region: 0, offset: 0, length: 0, access };
  const region = requestId(mr, 'MemoryRegion');
  if (region === undefined) throw typeError(`${path}.mr`, 'a MemoryRegion', mr);
  if ((mr as Resource).closed) throw closedError(`MemoryRegion in ${path}.mr`, 'ibv_bind_mw');
  const { length: whole } = mr as MemoryRegion;
  const offset = optional(given['offset'], `${path}.offset`, Number.MAX_SAFE_INTEGER, 0);
  const length =
    given['length'] === undefined
      ? Math.max(0, whole - offset)
      : integer(given['length'], `${path}.length`, 0, Number.MAX_SAFE_INTEGER);
  return { region, offset, length, access };
}
