// Writes of a stream of bytes over Node's net and over sockets of @verbs/core/stream, as the program writes them:
// writes.mjs unix|tcp|verbs stream SIZE COUNT
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { isAnswered, play, rate, type Task, total, warmUp } from './ends.js';
import { addressOf, listenBy, openBy } from './sockets.js';

/** Buffers that are written in turn: each begins with its number, which the reader looks at. */
const SOURCES = 16;

/** Looks at the first byte of each write, however the chunks are cut. Calls back at the end of a write that is answered. */
function onWrites(socket: Duplex, task: Task, answer: () => void): void {
  const { size } = task;
  let at = 0;
  socket.on('data', (chunk: Buffer) => {
    const before = Math.floor(at / size);
    for (let from = (size - (at % size)) % size; from < chunk.length; from += size) {
      const n = (at + from) / size;
      if (chunk[from] !== n % SOURCES) throw new Error(`write ${n} is not the one that was written`);
    }
    at += chunk.length;
    for (let n = before; n < Math.floor(at / size); n++) if (isAnswered(task, n)) answer();
  });
}

await play({
  async serve(task, ready) {
    const server = listenBy(task.way);
    await once(server, 'listening');
    ready(addressOf(server));
    const [socket] = (await once(server, 'connection')) as [Duplex];
    server.close();
    onWrites(socket, task, () => socket.write('.'));
    await once(socket, 'close');
  },

  async measure(task, address) {
    const socket = openBy(task.way, address);
    await once(socket, 'connect');
    const sources = Array.from({ length: SOURCES }, (_, n) => new Uint8Array(task.size).fill(n));
    let start = 0;
    for (let n = 0; n < total(task); n++) {
      if (n === warmUp(task)) start = performance.now();
      const answer = isAnswered(task, n) ? once(socket, 'data') : undefined;
      if (!socket.write(sources[n % SOURCES])) await once(socket, 'drain');
      await answer;
    }
    const duration = performance.now() - start;
    socket.end();
    return rate(task, duration);
  },
});
