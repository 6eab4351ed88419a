import { relative, sep } from 'node:path';

/** @import { Order } from './settings.mjs' */

/**
 * An import from one file to another.
 *
 * @typedef {object} Arrow
 * @property {string} from absolute path
 * @property {string} to
 * @property {string[]} [names] what is imported, as the other file names it
 * @property {boolean} value false where only types are imported
 */

/**
 * The cycles of imports: each set of files that all reach each other, as one way round.
 *
 * @param {Arrow[]} arrows
 * @returns {string[][]}
 */
export function cycles(arrows) {
  /** @type {Map<string, string[]>} */
  const next = new Map();
  for (const { from, to } of arrows) next.set(from, [...(next.get(from) ?? []), to]);
  /** @type {Set<string>} */
  const done = new Set();
  /** @type {string[][]} */
  const found = [];
  /** @type {string[]} */
  const way = [];

  /** @param {string} file */
  const visit = (file) => {
    const start = way.indexOf(file);
    if (start >= 0) found.push(way.slice(start));
    if (start >= 0 || done.has(file)) return;
    way.push(file);
    for (const to of next.get(file) ?? []) visit(to);
    way.pop();
    done.add(file);
  };
  for (const file of next.keys()) visit(file);
  return found;
}

/**
 * The room of a file: the folder below the order's root, the file itself if the order names it, otherwise ".".
 *
 * @param {Order} order
 * @param {string} root the order's, absolute
 * @param {string} file
 * @returns {string}
 */
export function roomOf({ order }, root, file) {
  const [first = '.', ...rest] = relative(root, file).split(sep);
  return rest.length > 0 || order.flat().includes(first) ? first : '.';
}

/** @param {string} root @param {string} file */
export function isBelow(root, file) {
  return !relative(root, file).startsWith('..');
}

/**
 * The contradictions to an order: an import from a room that is not below, a room without a place, a
 * place without a room.
 *
 * @param {Order} order
 * @param {string} root the order's, absolute
 * @param {string[]} files
 * @param {Arrow[]} arrows
 * @returns {string[]} findings, as text
 */
export function contradictions(order, root, files, arrows) {
  const floors = new Map([['.', -1]]);
  order.order.forEach((floor, index) => {
    for (const room of [floor].flat()) floors.set(room, index);
  });
  const rooms = new Set(files.filter((file) => isBelow(root, file)).map((file) => roomOf(order, root, file)));
  const named = order.order.flat();
  const findings = [
    ...[...rooms].filter((room) => !floors.has(room)).map((room) => `room ${room} has no place in the order`),
    ...named.filter((room) => !rooms.has(room)).map((room) => `there is no room ${room}, which the order names`),
  ];
  for (const { from, to } of arrows) {
    if (!isBelow(root, from) || !isBelow(root, to)) continue;
    const [upper, lower] = [roomOf(order, root, from), roomOf(order, root, to)];
    if (upper === lower || (floors.get(lower) ?? Infinity) > (floors.get(upper) ?? -1)) continue;
    findings.push(`${relative(root, from)} imports ${relative(root, to)}, but ${lower} is not below ${upper}`);
  }
  return findings;
}
