// The control of the soak: messages there and back by a plain Unix socket. What they suffer, the machine is to blame for.
import { once } from 'node:events';
import { createConnection, createServer } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { Latencies } from '../latencies.mjs';
import { Tally } from '../tally.mjs';

const SIZE = 64;
/** Between two messages: the control must not be a load. */
const REST_MS = 5;

let sockets = 0;

export function openSide({ me }) {
  return { make: () => makeSide(me), close: () => undefined };
}

/** Side 1 sends back what side 0 sends. */
function makeSide(me) {
  const path = join(process.env.XDG_RUNTIME_DIR, `plain-${process.pid}-${sockets++}`);
  const [tally, latencies] = [new Tally(), new Latencies()];
  let [stopped, sent, received] = [true, 0, 0];
  let sending = Promise.resolve();
  let socket;
  const server = me === 1 ? createServer((client) => client.on('error', () => undefined).pipe(client)) : undefined;
  server?.listen(path);

  async function answer() {
    for (let missing = SIZE; missing > 0;) {
      const data = socket.read();
      if (data === null) await once(socket, 'readable');
      else missing -= data.length;
    }
  }

  async function sendAll() {
    while (!stopped) {
      const begin = performance.now();
      socket.write(Buffer.alloc(SIZE, sent++));
      await answer();
      latencies.add(performance.now() - begin);
      tally.verified(SIZE);
      received++;
      await setTimeout(REST_MS);
    }
  }

  return {
    endpoint: { path },
    async connect(peer) {
      if (me === 0) {
        socket = createConnection(peer.path);
        await once(socket, 'connect');
      }
      return {};
    },
    start() {
      stopped = false;
      if (me === 0) sending = sendAll().catch((error) => tally.wrong(String(error)));
    },
    async stop() {
      stopped = true;
      await sending;
    },
    report: () => ({ ...tally.report(), messages: received, sent, pending: 0, latency: latencies.take() }),
    async close() {
      socket?.destroy();
      server?.close();
    },
  };
}
