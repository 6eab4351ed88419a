// Messages over Node's net, and over sockets of @verbs/core/stream, each behind its length:
// socket.mjs unix|tcp|verbs round-trip|stream SIZE COUNT
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectVerbs, createServer as createVerbsServer } from '@verbs/core/stream';
import { connectSocket, onMessages, put, socketPath } from './framed-socket.js';
import { check, fill, isAnswered, play, rate, roundTrips, type Task, total, warmUp } from './ends.js';

function open(task: Task, address: string): Duplex {
  if (task.way === 'verbs') return connectVerbs({ port: Number(address) });
  const socket = task.way === 'tcp' ? connect(Number(address), '127.0.0.1') : connectSocket(process.pid);
  return socket.setNoDelay();
}

function listen({ way }: Task) {
  if (way === 'verbs') return createVerbsServer().listen();
  const server = createServer((socket) => socket.setNoDelay());
  return way === 'tcp' ? server.listen(0, '127.0.0.1') : server.listen(socketPath(process.ppid));
}

await play({
  async serve(task, ready) {
    const server = listen(task);
    await once(server, 'listening');
    const address = server.address();
    ready(typeof address === 'object' && address !== null ? String(address.port) : '');
    const [socket] = (await once(server, 'connection')) as [Duplex];
    server.close();
    let n = 0;
    onMessages(socket, (message) => {
      check(message, n, task.size);
      if (isAnswered(task, n++)) put(socket, message);
    });
    await once(socket, 'close');
  },

  async measure(task, address) {
    const socket = open(task, address);
    await once(socket, 'connect');
    const message = new Uint8Array(task.size);
    const samples = new Float64Array(total(task));
    let n = 0;
    let start = 0;
    const next = () => {
      start = performance.now();
      fill(message, n);
      put(socket, message);
    };
    if (task.what === 'stream') {
      let answered: (answer: Buffer) => void = () => undefined;
      onMessages(socket, (answer) => {
        answered(answer);
      });
      for (; n < total(task); n++) {
        if (n === warmUp(task)) start = performance.now();
        const answer = isAnswered(task, n) ? new Promise<Buffer>((resolve) => (answered = resolve)) : undefined;
        fill(message, n);
        if (!put(socket, message)) await once(socket, 'drain');
        if (answer !== undefined) check(await answer, n, task.size);
      }
      socket.end();
      return rate(task, performance.now() - start);
    }
    await new Promise<void>((resolve) => {
      onMessages(socket, (answer) => {
        check(answer, n, task.size);
        samples[n] = performance.now() - start;
        if (++n === total(task)) resolve();
        else next();
      });
      next();
    });
    socket.end();
    return roundTrips(samples.subarray(warmUp(task)));
  },
});
