// JavaScript values between two processes by messagePort() of @verbs/core/stream: socket-port.mjs verbs round-trip|stream SIZE COUNT
import { once } from 'node:events';
import { connect, createServer, messagePort, type Socket } from '@verbs/core/stream';
import { check, fill, isAnswered, play, rate, roundTrips, total, warmUp } from './ends.js';

await play({
  async serve(task, ready) {
    const server = createServer().listen();
    await once(server, 'listening');
    ready(String(server.port));
    const [socket] = (await once(server, 'connection')) as [Socket];
    server.close();
    const port = messagePort<Uint8Array, Uint8Array>(socket);
    let n = 0;
    port.on('message', (message) => {
      check(message, n, task.size);
      if (isAnswered(task, n++)) port.postMessage(message);
    });
    await once(socket, 'close');
  },

  async measure(task, address) {
    await using port = messagePort<Uint8Array, Uint8Array>(connect({ port: Number(address) }));
    const answers = port[Symbol.asyncIterator]();
    const message = new Uint8Array(task.size);
    const samples = new Float64Array(total(task));
    let begin = 0;
    for (let n = 0; n < total(task); n++) {
      if (n === warmUp(task)) begin = performance.now();
      const start = performance.now();
      fill(message, n);
      const more = port.postMessage(message);
      if (isAnswered(task, n)) {
        const { value } = await answers.next();
        if (value === undefined) throw new Error('the other end closed the port');
        check(value, n, task.size);
        samples[n] = performance.now() - start;
      } else if (!more) {
        await once(port, 'drain');
      }
    }
    const duration = performance.now() - begin;
    return task.what === 'stream' ? rate(task, duration) : roundTrips(samples.subarray(warmUp(task)));
  },
});
