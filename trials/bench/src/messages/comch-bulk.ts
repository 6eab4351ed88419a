// A stream over the fast path of Comch, from registered memory into registered memory, polled: comch-bulk.mjs polled stream SIZE COUNT
import { allocMmap, Client, type Consumer, openDevice, openRepresentor, type Producer, Server } from '@verbs/doca-comm';
import { check, fill, play, rate, type Task, total, warmUp } from './ends.js';

/** Messages on their way, as of the streams of WRITEs. The consumer has as many buffers. */
const WINDOW = 16;
/** Buffers to send from: one is filled while all others may be on their way. More would only need more of the cache. */
const SOURCES = WINDOW + 1;

const slot = (memory: ArrayBuffer, n: number, count: number, size: number) =>
  new Uint8Array(memory, (n % count) * size, size);

function receiveAll(task: Task, consumer: Consumer, memory: ArrayBuffer, warm: () => void): void {
  for (let n = 0; n < WINDOW; n++) consumer.post(slot(memory, n, WINDOW, task.size));
  for (let n = 0; n < total(task);) {
    const delivery = consumer.poll();
    if (delivery === undefined) continue;
    check(delivery.data, n, task.size);
    if (++n === warmUp(task)) warm();
    consumer.post(delivery.data);
  }
}

function sendUpTo(
  task: Task,
  producer: Producer,
  consumer: number,
  memory: ArrayBuffer,
  from: number,
  to: number,
): void {
  for (let n = from; n < to; n++) {
    const view = slot(memory, n, SOURCES, task.size);
    fill(view, n);
    while (!producer.trySend(view, consumer));
  }
}

await play({
  async serve(task, ready) {
    const device = openDevice('doca_dpu0', { api: 'comch' });
    const deviceRep = openRepresentor(device, '5f5f:3b:00.0');
    await using server = new Server({ device, deviceRep, name: `bench-${process.ppid}` });
    ready();
    const connection = await server.accept();
    const mmap = allocMmap(device, WINDOW * task.size);
    const consumer = await connection.createConsumer({ mmap, tasks: WINDOW });
    receiveAll(task, consumer, mmap.buffer, () => connection.trySend(Buffer.from('warm')));
    await connection.send(Buffer.from('all'));
    // Until the other end has it, and goes.
    await connection.receive().catch(() => undefined);
  },

  async measure(task) {
    const device = openDevice('doca_host0', { api: 'comch' });
    await using client = new Client({ device, name: `bench-${process.pid}` });
    const connection = await client.connect();
    const mmap = allocMmap(device, SOURCES * task.size);
    const producer = await connection.createProducer({ tasks: WINDOW });
    const consumer = await connection.nextConsumer();
    sendUpTo(task, producer, consumer, mmap.buffer, 0, warmUp(task));
    await connection.receive();
    const begin = performance.now();
    sendUpTo(task, producer, consumer, mmap.buffer, warmUp(task), total(task));
    await connection.receive();
    return rate(task, performance.now() - begin);
  },
});
