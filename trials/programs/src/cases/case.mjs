import process from 'node:process';
import { which } from '../../../../tools/setup/src/shell.mjs';

/**
 * @typedef {object} Case
 * @property {string} program
 * @property {string} name what it does
 * @property {string[]} [server] its command; none for a program alone
 * @property {string[]} client
 * @property {number} [port] at which the server listens
 * @property {RegExp} [ready] what the server prints when its client may come
 * @property {Record<string, string>} [environment]
 * @property {boolean} [bare] it has no more than that, and starts `verbs` by itself
 * @property {number} [limit] of its time in seconds, if it takes longer than others
 * @property {boolean} [alone] it speaks with nobody
 * @property {RegExp} [prints] what a successful client prints
 * @property {RegExp} [endless] what a program prints that does not end
 * @property {boolean} [stays] the server goes on after its client
 * @property {string} [cannot] why it cannot run here
 */

let next = 20_000 + (process.pid % 20_000);

/** A port that no other case has. */
export function newPort() {
  return (next = next >= 60_000 ? 20_000 : next + 1);
}

/** @param {string} text */
export function words(text) {
  return text.split(' ').filter((word) => word !== '');
}

/**
 * That it cannot run here, of a case whose programs not every Debian has.
 * @param {string[]} programs
 */
export function needing(...programs) {
  const missing = programs.filter((program) => which(program) === undefined);
  return missing.length === 0 ? {} : { cannot: `this Debian has no ${missing.join(', ')}` };
}
