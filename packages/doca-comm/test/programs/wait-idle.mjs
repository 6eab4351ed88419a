// Awaits a message that does not come, and counts what Node's event loop handles in two seconds: wait-idle.mjs
// service|client NAME
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Endpoint, openDevice, openRepresentor } from '../../dist/index.js';

const [role, name] = process.argv.slice(2);
const service = role === 'service';
const device = openDevice(service ? 'doca_dpu0' : 'doca_host0');
const endpoint = new Endpoint(service ? { device, deviceRep: openRepresentor(device, '5f5f:3b:00.0') } : { device });
if (service) {
  endpoint.listen(name);
  process.stdout.write('listening\n');
} else {
  endpoint.connect(name);
  await endpoint.send(Buffer.from('hello'));
}
if (service) await endpoint.receive();
// Until the message is acknowledged and reported.
await sleep(700);
const waiting = endpoint.receive();
const { events } = performance.nodeTiming.uvMetricsInfo;
await sleep(2000);
process.stdout.write(`${performance.nodeTiming.uvMetricsInfo.events - events} events\n`);
if (!service) await endpoint.send(Buffer.from('bye'));
// The client's ends with the connection.
await waiting.catch((error) => {
  if (service || error.code !== 'DOCA_ERROR_CONNECTION_RESET') throw error;
});
process.stdout.write('closing\n');
endpoint.close();
