// Messages over Node's net, and over sockets of @verbs/core/stream, each behind its length:
// socket.mjs unix|tcp|verbs round-trip|stream SIZE COUNT
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { check, fill, isAnswered, play, rate, roundTrips, total, warmUp } from './ends.js';
import { onMessages, put } from './framed-socket.js';
import { addressOf, listenBy, openBy } from './sockets.js';

await play({
  async serve(task, ready) {
    const server = listenBy(task.way);
    await once(server, 'listening');
    ready(addressOf(server));
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
    const socket = openBy(task.way, address);
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
