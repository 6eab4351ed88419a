// Connections that end in the middle: abrupt.mjs WAY. Prints what came of it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { connect, createEventChannel, listen } from '../../dist/index.js';

const library = 'soft';

async function pairOf(server) {
  const accepted = server.request().then((request) => request.accept());
  return Promise.all([connect({ port: server.address().port, library }), accepted]);
}

/** Workers that are terminated at any moment of connecting, accepting and moving data; then a connection that works. */
async function terminated() {
  for (let i = 0; i < 12; i++) {
    const worker = new Worker(new URL(import.meta.url), { workerData: 'churn' });
    await once(worker, 'online');
    await pause(30 + i * 25);
    await worker.terminate();
  }
  const server = listen({ library });
  const [one, other] = await pairOf(server);
  for (const each of [one, other, server]) each.close();
  console.log('connects afterwards');
}

async function churn() {
  for (;;) {
    const server = listen({ library });
    const [one, other] = await pairOf(server);
    for (const each of [one, other, server]) each.close();
  }
}

/** The process exits while requests are on the way. */
async function exit() {
  const server = listen({ library });
  await pairOf(server);
  const { port } = server.address();
  for (let i = 0; i < 8; i++) void connect({ port, library }).catch(() => undefined);
  await new Promise((resolve) => setImmediate(resolve));
  console.log('exits');
  process.exit(0);
}

/** Everything is closed by the handlers of the events that it is about. */
async function handlers() {
  const server = listen({ library });
  const closed = [];
  const serving = (async () => {
    const request = await server.request();
    const connection = await request.accept();
    connection.on('disconnected', () => {
      connection.close();
      server.close();
      closed.push('server');
    });
  })();
  const client = await connect({ port: server.address().port, library });
  await serving;
  client.on('disconnected', () => {
    client.close();
    closed.push('client');
  });
  await client.disconnect();
  for (let i = 0; i < 100 && closed.length < 2; i++) await pause(20);
  console.log(closed.sort().join(' '));
}

/** A listener throws: that is the program's own, and neither other connections nor the server hear of it. */
async function throws() {
  const server = listen({ library });
  const [one, other] = await pairOf(server);
  const [third] = await pairOf(server);
  const told = once(process, 'uncaughtException');
  one.on('disconnected', () => {
    throw new Error('of the listener');
  });
  const waiting = Promise.race([third.whenDisconnected(), server.request()]);
  await Promise.all([other.disconnect(), one.whenDisconnected()]);
  const [{ message }] = await told;
  const [fourth] = await Promise.all([connect({ port: server.address().port, library }), (await waiting).accept()]);
  console.log(`uncaught ${message}, ${fourth.connected ? 'connects' : 'does not connect'} afterwards`);
  process.exit(0);
}

/** Calls in an order that makes no sense: each is an error, and none ends the process. */
function order() {
  const codes = new Set();
  const channel = createEventChannel({ library });
  for (const first of [
    'connect',
    'accept',
    'listen',
    'disconnect',
    'reject',
    'establish',
    'destroyQp',
    'resolveRoute',
  ]) {
    for (const second of ['connect', 'accept', 'listen', 'disconnect', 'bindAddr', 'resolveAddr', 'close']) {
      const id = channel.createId();
      for (const name of [first, second, first]) {
        try {
          const address = { address: '127.0.0.1', port: 1 };
          if (name === 'bindAddr') id.bindAddr({ address: '127.0.0.1', port: 0 });
          else if (name === 'resolveAddr') id.resolveAddr(address);
          else if (name === 'resolveRoute') id.resolveRoute({ timeout: 100 });
          else id[name]();
        } catch (error) {
          codes.add(error.code ?? error.name);
        }
      }
      id.close();
    }
  }
  channel.close();
  console.log([...codes].sort().join(' '));
}

/**
 * A peer gives up while its request waits for the program, whose backlog is full with it. Another process has the address
 * first: nothing in the peer's message names the one that listens.
 */
async function withdrawn() {
  const first = spawn(process.execPath, [new URL('far-end.mjs', import.meta.url).pathname, 'listen']);
  await once(first.stdout, 'data');
  const server = listen({ library, backlog: 1 });
  const { port } = server.address();
  const [host] = server.addresses();
  const gaveUp = await connect({ host, port, library, timeout: 50 }).catch(({ code }) => code);
  await pause(200);
  const accepted = server.request().then((request) => request.accept());
  const [one, other] = await Promise.all([connect({ host, port, library }), accepted]);
  console.log(gaveUp, 'and the next connects');
  for (const each of [one, other, server]) each.close();
  first.kill();
}

const ways = { terminated, exit, handlers, throws, order, churn, withdrawn };
await ways[isMainThread ? process.argv[2] : workerData]();
