// What programs do with the objects of the package, for packages/core/test/programs/native-calls.mjs.
import {
  allocMmap,
  Client,
  Endpoint,
  listDevices,
  listRepresentors,
  openDevice,
  openRepresentor,
  Server,
} from '../../dist/index.js';

// Its plan would fail the next tour.
export const skipped = ['setFaults'];

let tours = 0;

export default async function tour() {
  listDevices();
  const name = `tour ${tours++}`;
  const [dpu, host] = [openDevice('doca_dpu0'), openDevice('doca_host0')];
  listRepresentors(dpu);
  const deviceRep = openRepresentor(dpu, '5f5f:3b:00.0');
  const service = new Endpoint({ device: dpu, deviceRep, recvQueueSize: 16 });
  service.listen(name);
  const client = new Endpoint({ device: host, maxMsgSize: 256 });
  const received = service.receive();
  client.connect(name);
  await client.send(Buffer.from('hello'));
  const { peer } = await received;
  peer.userData = 7n;
  void peer.userData;
  peer.stats();
  await service.send(Buffer.from('answer'), peer);
  await client.receive();
  client.recvFrom();
  const more = await comch(name);
  return () => {
    for (const each of [...more, client, service, deviceRep, host, dpu]) each.close();
  };
}

/** Comch's own objects, in the order in which they are closed. */
async function comch(tour) {
  const name = `${tour}, comch`;
  const [dpu, host] = [openDevice('doca_dpu0', { api: 'comch' }), openDevice('doca_host0', { api: 'comch' })];
  const deviceRep = openRepresentor(dpu, '5f5f:3b:00.0');
  const server = new Server({ device: dpu, deviceRep, name });
  const client = new Client({ device: host, name });
  const [accepted, connected] = await Promise.all([server.accept(), client.connect()]);
  await connected.send(Buffer.from('hello'));
  await accepted.receive();
  connected.trySend(Buffer.from('more'));
  connected.counters();
  const [from, to] = [allocMmap(host, 4096), allocMmap(dpu, 4096)];
  const consumer = await accepted.createConsumer({ mmap: to, tasks: 4 });
  const producer = await connected.createProducer({ tasks: 4 });
  consumer.post(new Uint8Array(to.buffer));
  await producer.send(new Uint8Array(from.buffer, 0, 100), await connected.nextConsumer(), Buffer.from('tag'));
  await consumer.receive();
  consumer.post(new Uint8Array(to.buffer));
  return [producer, consumer, client, server, from, to, deviceRep, host, dpu];
}
