// Messages over the Comm Channel: comm-channel.mjs polled round-trip … or polled|awaited stream SIZE COUNT
import { type Client, connectTo, serviceFor } from '@verbs/lib/comm';
import { type Task, check, fill, play, rate, roundTrips } from './ends.js';

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
    const last = n === task.count - 1;
    if (task.what === 'round-trip' || last) polled.put(endpoint, data, peer);
    if (last) return;
  }
}

async function serveAwaited(task: Task, endpoint: Endpoint): Promise<void> {
  let n = 0;
  for await (const { peer, data } of endpoint) {
    check(data, n, task.size);
    const last = ++n === task.count;
    if (!last) continue;
    await endpoint.send(data, peer);
    return;
  }
  throw new Error('the endpoint was closed');
}

function measurePolled(task: Task, { endpoint, peer }: Client) {
  const message = new Uint8Array(task.size);
  const buffer = new Uint8Array(endpoint.maxMsgSize);
  const samples = new Float64Array(task.count);
  const begin = performance.now();
  for (let n = 0; n < task.count; n++) {
    const start = performance.now();
    fill(message, n);
    polled.put(endpoint, message, peer);
    if (task.what === 'stream') continue;
    check(polled.receive(endpoint, buffer).data, n, task.size);
    samples[n] = performance.now() - start;
  }
  if (task.what === 'round-trip') return roundTrips(samples);
  check(polled.receive(endpoint, buffer).data, task.count - 1, task.size);
  return rate(task, performance.now() - begin);
}

async function measureStreamAwaited(task: Task, { endpoint }: Client) {
  const message = new Uint8Array(task.size);
  const begin = performance.now();
  for (let n = 0; n < task.count; n++) {
    fill(message, n);
    await endpoint.send(message);
  }
  for await (const { data } of endpoint) {
    check(data, task.count - 1, task.size);
    return rate(task, performance.now() - begin);
  }
  throw new Error('the endpoint was closed');
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
