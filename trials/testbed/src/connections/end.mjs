// One end of a connection, for connections/cases.mjs: end.mjs listen|connect LIBRARY ADDRESS PORT WAY. It runs on the
// host with our librdmacm (soft), and in the guest with Debian's on the kernel's rxe (system). Each line of its output is
// something that has happened.
import { AccessFlags, WrOpcode } from '@verbs/core';
import { connect, listen } from '@verbs/rdmacm';

/** @import { Connection } from '@verbs/rdmacm' */
/** @import { Way } from './cases.mjs' */

const [role, library, host, port, way] = /** @type {[string, 'soft' | 'system', string, string, Way]} */ (
  process.argv.slice(2)
);

/** How long an end waits to be told that the other one is gone, in milliseconds. */
const patience = 15_000;

/** @param {string} words */
const say = (words) => {
  process.stdout.write(`${words}\n`);
};

/** @param {Uint8Array | undefined} bytes filled with zeros up to the room of the message */
const text = (bytes) => new TextDecoder().decode(bytes).replace(/\0+$/, '');

/**
 * A message goes to the other end, and one comes from there.
 * @param {Connection} connection
 */
async function exchange(connection) {
  const [out, into] = [1, 2].map(() => connection.pd.allocMr(64, AccessFlags.LOCAL_WRITE));
  if (out === undefined || into === undefined) throw new Error('two regions');
  const length = new TextEncoder().encodeInto(`from the end that has to ${role}`, out.bytes).written;
  const received = connection.qp.recv({ sgList: [{ mr: into }] });
  await connection.qp.send({ opcode: WrOpcode.SEND, sgList: [{ mr: out, length }] });
  await received;
  say(`received "${text(into.bytes)}"`);
}

/**
 * The other end is killed, or this one is.
 * @param {Connection} connection
 */
async function survive(connection) {
  say('stands');
  try {
    await connection.whenDisconnected({ timeout: patience });
    say('told that the other end is gone');
  } catch {
    say('is not told');
    await connection.disconnect();
    say('disconnected');
  }
}

/** @param {Connection} connection */
async function use(connection) {
  if (way === 'killed while it stands') {
    await survive(connection);
    return;
  }
  await exchange(connection);
  if (way === `the end that has to ${role} disconnects`) await connection.disconnect();
  else await connection.whenDisconnected();
  say('disconnected');
}

async function serve() {
  const server = listen({ host, port: Number(port), library });
  say('listens');
  const request = await server.request();
  say(`request "${text(request.privateData)}"`);
  if (way === 'rejected') {
    request.reject({ privateData: 'not today' });
    say('rejected it');
  } else if (way === 'killed before the answer') {
    await new Promise((resolve) => setTimeout(resolve, 2_147_483_647));
  } else {
    const connection = await request.accept({ privateData: 'you may' });
    await use(connection);
    connection.close();
  }
  server.close();
}

async function ask() {
  /** @type {Connection} */
  let connection;
  try {
    connection = await connect({ host, port: Number(port), library, privateData: 'may I?' });
  } catch (error) {
    const { code, reason, privateData } = /** @type {import('@verbs/rdmacm').ConnectionError} */ (error);
    const words = text(privateData);
    say([code, reason, words === '' ? '' : `"${words}"`].filter(Boolean).join(' '));
    return;
  }
  say(`accepted "${text(connection.privateData)}"`);
  await use(connection);
  connection.close();
}

await (role === 'listen' ? serve() : ask());
