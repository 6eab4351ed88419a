// What programs do with the objects of the package, for packages/core/test/programs/native-calls.mjs.
import { Endpoint, listDevices, listRepresentors, openDevice, openRepresentor } from '../../dist/index.js';

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
  return () => {
    for (const each of [client, service, deviceRep, host, dpu]) each.close();
  };
}
