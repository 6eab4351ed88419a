import { kChildren, kSerial } from '../base/symbols.js';
import { type Resource, roots } from './resource.js';

/**
 * The objects of this thread that are open, the oldest first: what a program forgot to close. `inspect` shows each. An object that was
 * collected is not among them; {@link objectCounts} has the native objects, closed ones that something still needs included.
 *
 * @example
 * import assert from 'node:assert';
 *
 * const before = openObjects();
 * const pd = ctx.allocPd();
 * console.log(openObjects().filter((each) => !before.includes(each))); // [ ProtectionDomain #2 … ]
 * pd.close();
 * assert.deepEqual(openObjects(), before);
 */
export function openObjects(): Resource[] {
  const found = new Set<Resource>();
  const add = (object: Resource) => {
    // An object with two parents is found twice.
    if (object.closed || found.has(object)) return;
    found.add(object);
    object[kChildren].forEach(add);
  };
  roots.values().forEach(add);
  return [...found].sort((one, other) => one[kSerial] - other[kSerial]);
}
