// Messages over ZeroMQ, on a unix socket: zeromq.mjs ipc round-trip|stream SIZE COUNT
import { check, fill, isAnswered, play, rate, roundTrips, total, UNAVAILABLE, warmUp } from './ends.js';

async function load() {
  try {
    return await import('zeromq');
  } catch (error) {
    console.error(`zeromq cannot be loaded (npm run setup): ${(error as Error).message}`);
    process.exit(UNAVAILABLE);
  }
}

const { Pair } = await load();
/** In the abstract namespace: nothing stays behind in the file system. */
const address = (pid: number) => `ipc://@verbs-bench-zeromq-${pid}`;

await play({
  async serve(task, ready) {
    const socket = new Pair();
    await socket.bind(address(process.ppid));
    ready();
    for (let n = 0; n < total(task); n++) {
      const [message = Buffer.alloc(0)] = await socket.receive();
      check(message, n, task.size);
      if (isAnswered(task, n)) await socket.send(message);
    }
    // The last answer is on its way until the other end has it, and closes.
    await socket.receive();
    socket.close();
  },

  async measure(task) {
    const socket = new Pair();
    socket.connect(address(process.pid));
    const samples = new Float64Array(total(task));
    const answer = async (n: number) => {
      const [message = Buffer.alloc(0)] = await socket.receive();
      check(message, n, task.size);
    };
    let begin = 0;
    for (let n = 0; n < total(task); n++) {
      if (n === warmUp(task)) begin = performance.now();
      const start = performance.now();
      // ZeroMQ keeps a message's memory until it is sent.
      const message = new Uint8Array(task.size);
      fill(message, n);
      await socket.send(message);
      if (!isAnswered(task, n)) continue;
      await answer(n);
      samples[n] = performance.now() - start;
    }
    const duration = performance.now() - begin;
    await socket.send('');
    socket.close();
    return task.what === 'stream' ? rate(task, duration) : roundTrips(samples.subarray(warmUp(task)));
  },
});
