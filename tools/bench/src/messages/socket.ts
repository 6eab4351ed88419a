// Messages over Node's net, each behind its length: socket.mjs unix|tcp round-trip|stream SIZE COUNT
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { connectSocket, onMessages, put, socketPath } from './framed-socket.js';
import { check, fill, isAnswered, play, rate, roundTrips, type Task, total, warmUp } from './ends.js';

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
      check(message, n, task.size);
      if (isAnswered(task, n++)) put(socket, message);
    });
    await once(socket, 'close');
  },

  async measure(task, address) {
    const socket = open(task, address);
    await once(socket, 'connect');
    socket.setNoDelay();
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
