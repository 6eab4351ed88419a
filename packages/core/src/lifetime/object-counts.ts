import { native } from '../base/native.js';

/**
 * The numbers of this thread's native objects, open or closed, by the names of their classes; `blockBytes` is the
 * memory of `allocMr`. For tests of leaks: after a garbage collection the numbers must be the same as before.
 *
 * An object is counted as long as something needs it: its JavaScript object until it is collected, a child of it, or a
 * posted work request that uses it.
 *
 * @example
 * import assert from 'node:assert';
 *
 * const before = objectCounts();
 * ctx.allocPd().close();
 * globalThis.gc?.(); // node --expose-gc
 * assert.deepEqual(objectCounts(), before);
 */
export function objectCounts(): Record<string, number> {
  return native.objectCounts();
}
