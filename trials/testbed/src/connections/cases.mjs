import { join } from 'node:path';
import { addresses } from '../namespace.mjs';
import { softConfiguration, startOnSoft } from '../host.mjs';
import { direction, freePort } from '../pairing.mjs';

/** @import { Guest } from '../guest.mjs' */
/** @import { Family } from '../host.mjs' */
/** @import { Result } from '../pairing.mjs' */

/**
 * How a connection goes.
 * @typedef {'the end that has to connect disconnects' | 'the end that has to listen disconnects' | 'rejected'
 *   | 'nobody listens' | 'killed while it stands' | 'killed before the answer'} Way
 */

/** The lines of each end. @typedef {Record<'listen' | 'connect', string[]>} Lines */

/**
 * @typedef {object} Case
 * @property {Way} way
 * @property {'listen' | 'connect'} [killed] this end is killed by SIGKILL when the other one is there
 * @property {(oursIsActive: boolean) => Lines} expected
 */

const messages = /** @type {const} */ ({
  listen: 'received "from the end that has to connect"',
  connect: 'received "from the end that has to listen"',
});
const opened = ['listens', 'request "may I?"'];
const accepted = 'accepted "you may"';

/** The end that is left. The kernel tells for its processes, but does not ask for those of others. */
const left = (/** @type {boolean} */ rxeIsLeft) =>
  rxeIsLeft ? ['is not told', 'disconnected'] : ['told that the other end is gone'];

/** @type {Case[]} */
const cases = [
  ...['connect', 'listen'].map((end) => ({
    way: /** @type {Way} */ (`the end that has to ${end} disconnects`),
    expected: () => ({
      listen: [...opened, messages.listen, 'disconnected'],
      connect: [accepted, messages.connect, 'disconnected'],
    }),
  })),
  {
    way: 'rejected',
    expected: () => ({
      listen: [...opened, 'rejected it'],
      connect: ['REJECTED CONSUMER_DEFINED "not today"'],
    }),
  },
  {
    way: 'nobody listens',
    // At another port: without a process there is no device of ours, and so no answer.
    expected: () => ({ listen: ['listens'], connect: ['REJECTED INVALID_SERVICE_ID'] }),
  },
  {
    way: 'killed while it stands',
    killed: 'connect',
    expected: (oursIsActive) => ({
      listen: [...opened, 'stands', ...left(oursIsActive)],
      connect: [accepted, 'stands'],
    }),
  },
  {
    way: 'killed while it stands',
    killed: 'listen',
    expected: (oursIsActive) => ({
      listen: [...opened, 'stands'],
      connect: [accepted, 'stands', ...left(!oursIsActive)],
    }),
  },
  {
    way: 'killed before the answer',
    killed: 'listen',
    expected: (oursIsActive) => ({
      listen: opened,
      connect: [oursIsActive ? 'REJECTED CONSUMER_DEFINED' : 'UNREACHABLE'],
    }),
  },
];

const program = join(import.meta.dirname, 'end.mjs');
/** For an end that hangs: the kernel asks for longer than a minute, and the machine is emulated. */
const limit = 300_000;

/**
 * Connections of our librdmacm with Debian's on rxe, with either end active.
 * @param {Guest} guest
 * @param {{ family: Family, only: string, each: (result: Result) => void }} options
 */
export async function runConnectionCases(guest, { family, only, each }) {
  for (const one of cases) {
    const name = one.killed === undefined ? one.way : `${one.way}: the end that has to ${one.killed}`;
    if (!name.includes(only)) continue;
    for (const oursIsActive of [true, false]) {
      const failure = await run(guest, one, family, oursIsActive);
      each({ part: 'connections', name, family, direction: direction(oursIsActive), failure });
    }
  }
}

/**
 * @param {Guest} guest
 * @param {Case} one
 * @param {Family} family
 * @param {boolean} oursIsActive
 * @returns {Promise<string | null>} why it failed
 */
async function run(guest, { way, killed, expected }, family, oursIsActive) {
  const lines = expected(oursIsActive);
  const address = addresses[oursIsActive ? 'guest' : 'host'][family];
  const ports = { listen: String(freePort()), connect: '' };
  ports.connect = way === 'nobody listens' ? String(freePort()) : ports.listen;
  const start = (/** @type {'listen' | 'connect'} */ role) => {
    const ours = (role === 'connect') === oursIsActive;
    const command = [process.execPath, program, role, ours ? 'soft' : 'system', address, ports[role], way];
    return ours ? startOnSoft(command, softConfiguration(family)) : guest.start(command);
  };
  const listening = start('listen');
  await listening.heard();
  const connecting = start('connect');
  const ends = { listen: listening, connect: connecting };
  const timer = setTimeout(() => {
    listening.kill();
    connecting.kill();
  }, limit);
  if (killed !== undefined) {
    for (const role of /** @type {const} */ (['listen', 'connect'])) {
      const last = way === 'killed while it stands' ? 'stands' : role === 'listen' ? opened.at(-1) : undefined;
      if (last !== undefined) await ends[role].says(last);
    }
    ends[killed].kill();
  }
  if (way === 'nobody listens') {
    await connecting.ended;
    listening.kill();
  }
  const failures = [];
  for (const role of /** @type {const} */ (['connect', 'listen'])) {
    const ended = await ends[role].ended;
    const said = ended.stdout.split('\n').filter((line) => line !== '');
    const status = killed === role || (way === 'nobody listens' && role === 'listen') ? null : 0;
    if (said.join('\n') === lines[role].join('\n') && ended.status === status) continue;
    failures.push(
      `${role}: ${said.join(', ')} (${ended.status ?? ended.signal ?? ''}) ${ended.stderr.trim().slice(-300)}`,
    );
  }
  clearTimeout(timer);
  return failures.length === 0 ? null : failures.join('; ').replaceAll('\n', ' ');
}
