// A service here, clients in worker threads: one that closes, one that ends with everything open, one that is terminated.
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { fileURLToPath } from 'node:url';
import { once } from 'node:events';
import { Endpoint, openDevice, openRepresentor } from '../../dist/index.js';

if (isMainThread) {
  const device = openDevice('doca_dpu0');
  const service = new Endpoint({ device, deviceRep: openRepresentor(device, '5f5f:3b:00.0') });
  service.listen('workers');
  let lost = 0;
  service.on('lost', () => {
    if (++lost === 3) service.close();
  });
  const serving = (async () => {
    for await (const { peer, data } of service) await service.send(data, peer);
  })();
  for (const end of ['closes', 'returns', 'waits']) {
    const worker = new Worker(fileURLToPath(import.meta.url), { workerData: end });
    // Both at once: a worker that ends hands over its last message and its exit in one go.
    const exited = once(worker, 'exit');
    const [text] = await once(worker, 'message');
    process.stdout.write(`${text}\n`);
    if (end === 'waits') await worker.terminate();
    await exited;
  }
  await serving;
  process.stdout.write(`${lost} lost\n`);
} else {
  const endpoint = new Endpoint({ device: openDevice('doca_host0') });
  endpoint.connect('workers');
  await endpoint.send(Buffer.from(`a worker that ${workerData}`));
  parentPort.postMessage(Buffer.from((await endpoint.receive()).data).toString());
  if (workerData === 'closes') endpoint.close();
  if (workerData === 'waits') await endpoint.receive();
}
