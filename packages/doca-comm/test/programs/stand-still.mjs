// An end whose event loop stands still for some seconds after its first message: stand-still.mjs service|client NAME
import { writeSync } from 'node:fs';
import { Endpoint, openDevice, openRepresentor } from '../../dist/index.js';

const [role, name] = process.argv.slice(2);
const device = openDevice(role === 'service' ? 'doca_dpu0' : 'doca_host0');
const endpoint = new Endpoint({ device });
if (role === 'service') {
  endpoint.deviceRep = openRepresentor(device, '5f5f:3b:00.0');
  endpoint.listen(name);
  writeSync(1, 'listening\n');
  await endpoint.receive();
} else {
  endpoint.connect(name);
  await endpoint.send(Buffer.from('x'));
}
writeSync(1, 'standing still\n');
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3000);
const start = performance.now();
endpoint.close();
writeSync(1, `closed in ${Math.round(performance.now() - start)} ms\n`);
