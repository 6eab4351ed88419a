// Awaits a message that does not come, and counts what Node's event loop handles in a second in which at least three
// keep-alives come: wait-idle.mjs service|client NAME
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
// The quietest of five seconds: on a busy machine late packets of before come in the first. Its timer is one event.
let quietest = Infinity;
for (let second = 0; second < 5 && quietest > 1; ++second) {
  const { events } = performance.nodeTiming.uvMetricsInfo;
  await sleep(1000);
  quietest = Math.min(quietest, performance.nodeTiming.uvMetricsInfo.events - events);
}
process.stdout.write(`${quietest} events\n`);
if (!service) await endpoint.send(Buffer.from('bye'));
// The client's ends with the connection.
await waiting.catch((error) => {
  if (service || error.code !== 'DOCA_ERROR_CONNECTION_RESET') throw error;
});
process.stdout.write('closing\n');
endpoint.close();
