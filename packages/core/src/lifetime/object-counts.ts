import { native } from '../base/native.js';

/**
 * How many native objects this thread has, open or closed, by the names of their classes; `blockBytes` is the memory of
 * `allocMr`. For tests that look for leaks: after a collection of garbage the numbers must be what they were.
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
