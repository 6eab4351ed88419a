// A server here, clients of Comch in worker threads: one that closes, one that ends with everything open and messages under
// way, one that is terminated.
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { allocMmap, Client, openDevice, openRepresentor, Server } from '../../dist/index.js';

if (isMainThread) {
  const dpu = openDevice('doca_dpu0', { api: 'comch' });
  const server = new Server({ device: dpu, deviceRep: openRepresentor(dpu, '5f5f:3b:00.0'), name: 'comch-workers' });
  for (const end of ['closes', 'returns', 'waits']) {
    const worker = new Worker(fileURLToPath(import.meta.url), { workerData: end });
    const exited = once(worker, 'exit');
    const connection = await server.accept();
    const serving = (async () => {
      for await (const message of connection) connection.trySend(message);
    })();
    const [text] = await once(worker, 'message');
    process.stdout.write(`${text}\n`);
    if (end === 'waits') await worker.terminate();
    await exited;
    await serving;
  }
  process.stdout.write(`${server.connections.length} left\n`);
  await server.closeAsync();
} else {
  const device = openDevice('doca_host0', { api: 'comch' });
  const client = new Client({ device, name: 'comch-workers' });
  const connection = await client.connect();
  const mmap = allocMmap(device, 4096);
  const consumer = await connection.createConsumer({ mmap });
  consumer.post(new Uint8Array(mmap.buffer));
  await connection.send(Buffer.from(`a worker that ${workerData}`));
  parentPort.postMessage(Buffer.from(await connection.receive()).toString());
  if (workerData === 'closes') await client.closeAsync();
  if (workerData === 'waits') await consumer.receive();
}
