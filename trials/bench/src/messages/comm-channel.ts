// Messages over the Comm Channel: comm-channel.mjs polled round-trip … or polled|awaited stream SIZE COUNT
import { type Client, connectTo, serviceFor } from '@verbs/lib/comm';
import { type Task, check, fill, isAnswered, play, rate, roundTrips, total, warmUp } from './ends.js';

type Endpoint = Client['endpoint'];
type Peer = Client['peer'];

/** The calls as C has them, in a loop that spins; Node's event loop does not run. */
const polled = {
  put(endpoint: Endpoint, message: Uint8Array, peer: Peer): void {
    while (!endpoint.sendTo(message, peer));
  },
  receive(endpoint: Endpoint, buffer: Uint8Array): { peer: Peer; data: Uint8Array } {
    for (;;) {
      const received = endpoint.recvFrom(buffer);
      if (received !== undefined) return received;
    }
  },
};

function servePolled(task: Task, endpoint: Endpoint): void {
  const buffer = new Uint8Array(endpoint.maxMsgSize);
  for (let n = 0; ; n++) {
    const { peer, data } = polled.receive(endpoint, buffer);
    check(data, n, task.size);
    if (isAnswered(task, n)) polled.put(endpoint, data, peer);
    if (n === total(task) - 1) return;
  }
}

async function serveAwaited(task: Task, endpoint: Endpoint): Promise<void> {
  let n = 0;
  for await (const { peer, data } of endpoint) {
    check(data, n, task.size);
    if (isAnswered(task, n)) await endpoint.send(data, peer);
    if (++n === total(task)) return;
  }
  throw new Error('the endpoint was closed');
}

function measurePolled(task: Task, { endpoint, peer }: Client) {
  const message = new Uint8Array(task.size);
  const buffer = new Uint8Array(endpoint.maxMsgSize);
  const samples = new Float64Array(total(task));
  let begin = 0;
  for (let n = 0; n < total(task); n++) {
    if (n === warmUp(task)) begin = performance.now();
    const start = performance.now();
    fill(message, n);
    polled.put(endpoint, message, peer);
    if (!isAnswered(task, n)) continue;
    check(polled.receive(endpoint, buffer).data, n, task.size);
    samples[n] = performance.now() - start;
  }
  const duration = performance.now() - begin;
  return task.what === 'stream' ? rate(task, duration) : roundTrips(samples.subarray(warmUp(task)));
}

async function measureStreamAwaited(task: Task, { endpoint }: Client) {
  const message = new Uint8Array(task.size);
  let begin = 0;
  for (let n = 0; n < total(task); n++) {
    if (n === warmUp(task)) begin = performance.now();
    fill(message, n);
    await endpoint.send(message);
    if (isAnswered(task, n)) check((await endpoint.receive()).data, n, task.size);
  }
  return rate(task, performance.now() - begin);
}

await play({
  async serve(task, ready) {
    using service = serviceFor(`bench-${process.ppid}`);
    const { endpoint } = service;
    ready();
    // Closing waits for the acknowledgement of the last answer.
    if (task.way === 'polled') servePolled(task, endpoint);
    else await serveAwaited(task, endpoint);
  },
  async measure(task) {
    using client = await connectTo(`bench-${process.pid}`, AbortSignal.timeout(30_000));
    return task.way === 'polled' ? measurePolled(task, client) : await measureStreamAwaited(task, client);
  },
});
