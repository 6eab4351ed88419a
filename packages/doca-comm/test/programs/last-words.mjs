// A client in a worker thread, for a service whose thread stands still meanwhile: it sends some messages, and leaves.
import { workerData } from 'node:worker_threads';
import { Endpoint, openDevice } from '../../dist/index.js';

const { flag, name } = workerData;
const device = openDevice('doca_host0');
const client = new Endpoint({ device });
const peer = client.connect(name);
await client.send(Buffer.from('hello'), peer);
Atomics.wait(flag, 0, 0);
for (let i = 0; i < 20; i++) client.sendTo(Buffer.from(`message ${i}`), peer);
client.close();
device.close();
Atomics.store(flag, 1, 1);
Atomics.notify(flag, 1);
