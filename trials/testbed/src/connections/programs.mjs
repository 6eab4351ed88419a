import { addresses } from '../namespace.mjs';
import { softConfiguration, startOnSoft } from '../host.mjs';
import { direction, freePort } from '../pairing.mjs';
import { runBoth } from '../programs.mjs';

/** @import { Ended, Guest } from '../guest.mjs' */
/** @import { Family } from '../host.mjs' */
/** @import { Result } from '../pairing.mjs' */

/**
 * Debian's programs for librdmacm, which connect by address and port.
 * @typedef {object} Program
 * @property {string} name
 * @property {string[]} server without its address
 * @property {string[]} client without the server's address
 * @property {string} at the server's option for its address
 * @property {string} to the client's option for it
 * @property {boolean} [fixedPort] its port is its own
 * @property {RegExp} [prints] what each end prints if all went well
 */

/** @type {Program[]} */
const programs = [
  rping('', ['-C', '20']),
  rping(' of 64 KiB', ['-C', '10', '-S', '65535']),
  rping(' with queue pairs of its own', ['-C', '10', '-q']),
  utility('ucmatose', ['-c', '8', '-C', '10', '-S', '4096']),
  { ...utility('udaddy', ['-c', '4', '-C', '10', '-S', '1000']), fixedPort: true },
];

/**
 * @param {string} what
 * @param {string[]} args
 * @returns {Program}
 */
function rping(what, args) {
  const server = ['rping', '-s', ...args];
  return { name: `rping${what}`, server, client: ['rping', '-c', '-V', ...args], at: '-a', to: '-a' };
}

/**
 * @param {string} name
 * @param {string[]} args
 * @returns {Program}
 */
function utility(name, args) {
  return { name, server: [name, ...args], client: [name, ...args], at: '-b', to: '-s', prints: /return status 0/ };
}

/**
 * Runs every program between our librdmacm and Debian's on rxe, with either end as the server.
 * @param {Guest} guest
 * @param {{ part: string, family: Family, only: string, configuration?: string, each: (result: Result) => void }} options
 *   configuration: of our NIC, if not its address only
 */
export async function runConnectionPrograms(guest, options) {
  const { part, family, only, configuration = softConfiguration(family), each } = options;
  for (const program of programs.filter(({ name }) => name.includes(only))) {
    for (const oursIsActive of [true, false]) {
      const failure = await run(guest, program, { family, configuration }, oursIsActive);
      each({ part, name: program.name, family, direction: direction(oursIsActive), failure });
    }
  }
}

/**
 * @param {Guest} guest
 * @param {Program} program
 * @param {{ family: Family, configuration: string }} wire
 * @param {boolean} oursIsActive
 */
async function run(guest, program, { family, configuration }, oursIsActive) {
  const { server, client, at, to, fixedPort, prints = /(?:)/ } = program;
  const address = addresses[oursIsActive ? 'guest' : 'host'][family];
  const number = freePort();
  const port = fixedPort === true ? [] : ['-p', String(number)];
  const commands = { server: [...server, at, address, ...port], client: [...client, to, address, ...port] };
  const start = (/** @type {'server' | 'client'} */ end) =>
    (end === 'client') === oursIsActive ? startOnSoft(commands[end], configuration) : guest.start(commands[end]);
  return await runBoth({
    server: start('server'),
    ready: oursIsActive ? guest.run(listeningAtRxe) : startOnSoft(listeningAtOurs, '').ended,
    client: () => start('client'),
    isGood: (/** @type {Ended} */ { status, stdout }) => status === 0 && prints.test(stdout),
  });
}

/** Commands that end when somebody listens at rxe, and when a process has opened our device; or after two minutes. */
const listeningAtRxe = until('rdma resource show cm_id | grep -q LISTEN');
const listeningAtOurs = until('grep -q ":12B7 " /proc/net/udp /proc/net/udp6 && sleep 0.5');

/** @param {string} condition */
function until(condition) {
  return ['sh', '-c', `i=0; until ${condition} || [ $i = 1200 ]; do sleep 0.1; i=$((i + 1)); done`];
}
