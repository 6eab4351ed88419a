import { closedError } from '../base/errors.js';
import { fields, maybe, or, u31, u53, unchecked } from '../base/fields.js';
import { typeError } from '../base/validate.js';
import { requestId, type Resource } from '../lifetime/resource.js';
import type { MemoryRegion } from './memory-region.js';

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
