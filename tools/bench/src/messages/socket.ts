// Messages over Node's net, each behind its length: socket.mjs unix|tcp round-trip|stream SIZE COUNT
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { connectSocket, onMessages, put, socketPath } from './framed-socket.js';
import { check, fill, play, rate, roundTrips, type Task } from './ends.js';

function open(task: Task, address: string): Socket {
  return task.way === 'tcp' ? connect(Number(address), '127.0.0.1') : connectSocket(process.pid);
}

await play({
  async serve(task, ready) {
    const server = createServer((socket) => socket.setNoDelay());
    if (task.way === 'tcp') server.listen(0, '127.0.0.1');
    else server.listen(socketPath(process.ppid));
    await once(server, 'listening');
    const address = server.address();
    ready(typeof address === 'object' && address !== null ? String(address.port) : '');
    const [socket] = (await once(server, 'connection')) as [Socket];
    server.close();
    let n = 0;
    onMessages(socket, (message) => {
      check(message, n++, task.size);
      if (task.what === 'round-trip' || n === task.count) put(socket, message);
    });
    await once(socket, 'close');
  },

  async measure(task, address) {
    const socket = open(task, address);
    await once(socket, 'connect');
    socket.setNoDelay();
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
      check(await last, task.count - 1, task.size);
      socket.end();
      return rate(task, performance.now() - start);
    }
    await new Promise<void>((resolve) => {
      onMessages(socket, (answer) => {
        check(answer, n, task.size);
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
