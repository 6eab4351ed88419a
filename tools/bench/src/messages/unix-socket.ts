// Messages over Node's net on a unix socket, each behind its length: unix-socket.mjs framed round-trip|stream SIZE COUNT
import { once } from 'node:events';
import { type Socket, connect, createServer } from 'node:net';
import { check, fill, play, rate, roundTrips } from './ends.js';

const LENGTH = 4;

/** In the abstract namespace: nothing stays behind in the file system. */
const path = (pid: number) => `\0verbs-bench-${pid}`;

/** Calls back with each message that is complete. */
function onMessages(socket: Socket, callback: (message: Buffer) => void): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    while (bytes.length - at >= LENGTH) {
      const end = at + LENGTH + bytes.readUInt32LE(at);
      if (end > bytes.length) break;
      callback(bytes.subarray(at + LENGTH, end));
      at = end;
    }
    rest = bytes.subarray(at);
  });
}

/** False: wait for 'drain'. */
function put(socket: Socket, message: Uint8Array): boolean {
  const frame = Buffer.allocUnsafe(LENGTH + message.length);
  frame.writeUInt32LE(message.length);
  frame.set(message, LENGTH);
  return socket.write(frame);
}

await play({
  async serve(task, ready) {
    const server = createServer().listen(path(process.ppid));
    await once(server, 'listening');
    ready();
    const [socket] = (await once(server, 'connection')) as [Socket];
    server.close();
    let n = 0;
    onMessages(socket, (message) => {
      check(message, n++, task);
      if (task.what === 'round-trip' || n === task.count) put(socket, message);
    });
    await once(socket, 'close');
  },

  async measure(task) {
    const socket = connect(path(process.pid));
    await once(socket, 'connect');
    const message = new Uint8Array(task.size);
    const samples = new Float64Array(task.count);
    let n = 0;
    let start = performance.now();
    const next = () => {
      start = performance.now();
      fill(message, n);
      put(socket, message);
    };
    if (task.what === 'stream') {
      const last = new Promise<Buffer>((resolve) => {
        onMessages(socket, resolve);
      });
      for (; n < task.count; n++) {
        fill(message, n);
        if (!put(socket, message)) await once(socket, 'drain');
      }
      check(await last, task.count - 1, task);
      socket.end();
      return rate(task, performance.now() - start);
    }
    await new Promise<void>((resolve) => {
      onMessages(socket, (answer) => {
        check(answer, n, task);
        samples[n] = performance.now() - start;
        if (++n === task.count) resolve();
        else next();
      });
      next();
    });
    socket.end();
    return roundTrips(samples);
  },
});
