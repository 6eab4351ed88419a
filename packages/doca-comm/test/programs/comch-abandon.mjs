// Makes objects of Comch, some with transfers under way, and forgets them: collection stops and frees them, and their peers
// hear of it.
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { allocMmap, Client, openDevice, openRepresentor, Server } from '../../dist/index.js';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc');

const dpu = openDevice('doca_dpu0', { api: 'comch' });
const server = new Server({ device: dpu, deviceRep: openRepresentor(dpu, '5f5f:3b:00.0'), name: 'abandoned' });

async function abandon(round) {
  const host = openDevice('doca_host0', { api: 'comch' });
  const client = new Client({ device: host, name: 'abandoned' });
  const [accepted, connected] = await Promise.all([server.accept(), client.connect()]);
  await connected.send(Buffer.from('hello'));
  await accepted.receive();
  if (round % 2 === 0) return;
  const mmap = allocMmap(host, 1 << 20);
  const consumer = await connected.createConsumer({ mmap });
  const producer = await connected.createProducer();
  consumer.post(new Uint8Array(mmap.buffer));
  // To nobody that has posted.
  const memory = allocMmap(dpu, 4096);
  const other = await accepted.createConsumer({ mmap: memory });
  producer.trySend(new Uint8Array(mmap.buffer, 0, 4096), await connected.nextConsumer());
  void other;
}
for (let round = 0; round < 10; round++) await abandon(round);
for (const end = Date.now() + 20_000; server.connections.length > 0 && Date.now() < end; await sleep(20)) {
  gc();
  server.progress();
}
process.stdout.write(`${server.connections.length} left\n`);
await server.closeAsync();
