// A client that sends and receives until it is killed: talker.mjs NAME
import { Endpoint, openDevice } from '../../dist/index.js';

const endpoint = new Endpoint({ device: openDevice('doca_host0') });
process.stdout.write('connecting\n');
endpoint.connect(process.argv[2]);
for (let n = 0; ; n++) {
  await endpoint.send(Buffer.alloc(1 + (n % 4080), n));
  await endpoint.receive();
  if (n === 0) process.stdout.write('talking\n');
}
