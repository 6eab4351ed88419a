/** @import { Package } from '../worlds/devices.mjs' */
/** @import { Effect } from '../harness/expectations.mjs' */
/** @import { Conditions, Scene } from '../harness/scene.mjs' */
/** @import { LinkName } from '../worlds/world.mjs' */

/**
 * What may be seen afterwards.
 * @typedef {object} Outcome
 * @property {[Effect[], Effect[]]} effects on each end
 * @property {number[]} [dead] ends that are no more: others take their places
 * @property {number[]} [fresh] ends that must be opened anew
 * @property {string} [note] what happened, for the table
 */

/**
 * Something that happens while data is transferred.
 * @typedef {Conditions & Happening} Disturbance
 *
 * @typedef {object} Happening
 * @property {string} kind
 * @property {string} about for the usage and the table
 * @property {readonly LinkName[]} links
 * @property {readonly Package[]} packages
 * @property {() => string | undefined} [impossible] why it cannot happen on this machine
 * @property {(scene: Scene) => Promise<void>} [prepare] before anything is transferred
 * @property {(scene: Scene) => Promise<Outcome>} act
 */

/** Every link. @type {readonly LinkName[]} */
export const everywhere = ['process', 'loopback', 'shm', 'veth'];

/** Every package for Node.js. */
export const inNode = /** @type {const} */ (['core', 'rdmacm', 'mlx5', 'hbl', 'doca-comm']);

/** And a program in C. */
export const all = /** @type {const} */ ([...inNode, 'libibverbs']);

/** The packages whose program has memory that the NIC uses. */
export const withMemory = /** @type {const} */ (['core', 'rdmacm', 'mlx5', 'hbl', 'libibverbs']);

/** Nothing may be seen of it. @type {[Effect[], Effect[]]} */
export const unharmed = [['ok'], ['ok']];

/** Whether the connection outlives it, depends on how long it was. @type {[Effect[], Effect[]]} */
export const maybeOver = [
  ['ok', 'gone', 'flushed'],
  ['ok', 'gone', 'flushed'],
];

/**
 * One effect on the end that it happens to, and another on its peer.
 * @param {number} target @param {Effect[]} own @param {Effect[]} peers
 * @returns {[Effect[], Effect[]]}
 */
export function effects(target, own, peers) {
  return target === 0 ? [own, peers] : [peers, own];
}
