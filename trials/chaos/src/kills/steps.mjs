/**
 * Where a program is killed: the side it has in the connection, and how far it went.
 * @typedef {object} Step
 * @property {'connect' | 'listen'} role of the program that is killed
 * @property {string} name `any`: at a random moment of connections one after the other
 */

/** @type {readonly Step[]} */
export const steps = [
  ...['resolved', 'requesting', 'response', 'established', 'disconnecting', 'disconnected', 'any'].map(
    (name) => /** @type {Step} */ ({ role: 'connect', name }),
  ),
  ...['listening', 'requested', 'accepted', 'established', 'disconnecting', 'disconnected', 'any'].map(
    (name) => /** @type {Step} */ ({ role: 'listen', name }),
  ),
];

/** Within these milliseconds the survivor has its event, as the README of @verbs/rdmacm says. */
export const SETUP_MS = 16_000;
export const STANDING_MS = 8000;
