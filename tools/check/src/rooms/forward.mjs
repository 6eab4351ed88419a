import { join, relative } from 'node:path';
import { isBelow, roomOf } from './graph.mjs';
import { onlyPassesTypesOn } from './typescript-imports.mjs';

/** @import { Arrow } from './graph.mjs' */
/** @import { Order } from './settings.mjs' */

/**
 * What is wrong with a file of forward declarations, `forward` of an order. Its own imports go to wherever the types are
 * defined, so it holds nothing else, and only a file that cannot import the definition uses it.
 *
 * @param {Order} order
 * @param {string} root the order's, absolute
 * @param {Arrow[]} arrows
 * @returns {string[]} findings, as text
 */
export function forwardFindings(order, root, arrows) {
  if (order.forward === undefined) return [];
  const file = join(root, order.forward);
  const name = (/** @type {string} */ path) => relative(root, path);
  if (!onlyPassesTypesOn(file)) {
    return [`${order.forward} declares types ahead: it may have nothing but export type { Name } from their files`];
  }
  const others = arrows.filter(({ from }) => from !== file);
  const defined = arrows
    .filter(({ from }) => from === file)
    .flatMap(({ to, names = [] }) => names.map((type) => /** @type {const} */ ([type, to])));
  const uses = others.filter(({ to }) => to === file);
  const floor = (/** @type {string} */ path) =>
    order.order.findIndex((rooms) => [rooms].flat().includes(roomOf(order, root, path)));
  return defined.flatMap(([type, definition]) => {
    const users = uses.filter(({ names = [] }) => names.includes(type)).map(({ from }) => from);
    if (users.length === 0) return [`${order.forward} declares ${type} ahead, and no file needs it`];
    const reached = reachedFrom(definition, others);
    return users
      .filter((user) => isBelow(root, user) && floor(user) <= floor(definition) && !reached.has(user))
      .map((user) => `${name(user)} takes ${type} from ${order.forward}, but can import ${name(definition)}`);
  });
}

/**
 * @param {string} start
 * @param {Arrow[]} arrows
 */
function reachedFrom(start, arrows) {
  const reached = new Set([start]);
  // A set hands out what is added while it is walked.
  for (const file of reached) for (const { from, to } of arrows) if (from === file) reached.add(to);
  return reached;
}
