import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The order of the rooms below one folder, as `rooms.json` in a package's root has it: a room may import the
 * rooms after it, types too. Rooms in an inner array do not import each other. A room is a folder, or a single file that the order
 * names; "." stands for the other files of the root, which are above all rooms unless the order has a place for them.
 *
 * @typedef {object} Order
 * @property {string} root a folder of the package: "src", "native", "native/nic"
 * @property {(string | string[])[]} order top to bottom
 * @property {string} [forward] the file of forward declarations, from the root: the only one whose imports may go anywhere
 */

/**
 * @param {string} folder a package's
 * @returns {Order[]}
 */
export function readOrders(folder) {
  const path = join(folder, 'rooms.json');
  if (!existsSync(path)) return [];
  const content = /** @type {unknown} */ (JSON.parse(readFileSync(path, 'utf8')));
  const entries = Array.isArray(content) ? content : [content];
  return entries.map((entry, index) => {
    if (isOrder(entry)) return entry;
    throw new TypeError(
      `${path}: entry ${index + 1} is not { "root": folder, "order": [room or [rooms], …], "forward"?: file }`,
    );
  });
}

/**
 * @param {unknown} value
 * @returns {value is Order}
 */
function isOrder(value) {
  if (typeof value !== 'object' || value === null) return false;
  const { root, order, forward } = /** @type {Record<string, unknown>} */ (value);
  const isRoom = (/** @type {unknown} */ room) => typeof room === 'string';
  return (
    typeof root === 'string' &&
    (forward === undefined || isRoom(forward)) &&
    Array.isArray(order) &&
    order.every((floor) => isRoom(floor) || (Array.isArray(floor) && floor.every(isRoom)))
  );
}
