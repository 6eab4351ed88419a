// A client that says something and receives nothing, until it is killed: silent.mjs NAME
import { Endpoint, openDevice } from '../../dist/index.js';

const endpoint = new Endpoint({ device: openDevice('doca_host0') });
endpoint.connect(process.argv[2]);
await endpoint.send(Buffer.from('x'));
process.stdout.write('talked\n');
setInterval(() => undefined, 60_000);
