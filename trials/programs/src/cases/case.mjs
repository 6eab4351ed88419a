import process from 'node:process';

/**
 * @typedef {object} Case
 * @property {string} program
 * @property {string} name what it does
 * @property {string[]} [server] its command; none for a program alone
 * @property {string[]} client
 * @property {number} [port] at which the server listens
 * @property {Record<string, string>} [environment]
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
