import { isBelow, roomOf } from './graph.mjs';

/** @import { Arrow } from './graph.mjs' */
/** @import { Order } from './settings.mjs' */

/**
 * The imports between rooms as a diagram in Mermaid's language, with the number of imports at each arrow. Dotted: types
 * only.
 *
 * @param {Order} order
 * @param {string} root the order's, absolute
 * @param {Arrow[]} arrows
 */
export function draw(order, root, arrows) {
  /** @type {Map<string, { values: number, types: number }>} */
  const counts = new Map();
  for (const { from, to, value } of arrows) {
    if (!isBelow(root, from) || !isBelow(root, to)) continue;
    const [upper, lower] = [roomOf(order, root, from), roomOf(order, root, to)];
    if (upper === '.' || lower === '.' || upper === lower) continue;
    const key = `${upper} ${lower}`;
    const count = counts.get(key) ?? { values: 0, types: 0 };
    count[value ? 'values' : 'types'] += 1;
    counts.set(key, count);
  }
  const lines = [...counts]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([key, { values, types }]) => {
      const [upper, lower] = key.split(' ');
      return values > 0 ? `  ${upper} -->|${values}| ${lower}` : `  ${upper} -.->|${types}| ${lower}`;
    });
  return ['flowchart TD', ...lines].join('\n');
}
