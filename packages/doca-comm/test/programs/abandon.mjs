// Makes endpoints and forgets them. Collection must free each before its device, and end its connection.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { setTimeout as sleep } from 'node:timers/promises';
import { Endpoint, openDevice, openRepresentor } from '../../dist/index.js';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc');

const device = openDevice('doca_dpu0');
const service = new Endpoint({ device, deviceRep: openRepresentor(device, '5f5f:3b:00.0') });
service.listen('abandoned');

async function connect() {
  const endpoint = new Endpoint({ device: openDevice('doca_host0') });
  const peer = endpoint.connect('abandoned');
  while (peer.updateInfo() === 'in-progress') {
    receive();
    await sleep(1);
  }
  // What has slept once is watched from then on.
  await endpoint.receive({ signal: AbortSignal.timeout(5) }).catch(() => undefined);
  return endpoint;
}
function receive() {
  try {
    service.recvFrom();
  } catch (error) {
    service.disconnect(error.peer);
  }
}

const kept = await connect();
for (let i = 0; i < 10; i++) await connect();
new Endpoint();
for (const end = Date.now() + 20_000; service.update().peers.length > 1 && Date.now() < end; await sleep(20)) {
  gc();
  receive();
}
process.stdout.write(`${service.update().peers.length} left, which is ${kept.closed ? 'closed' : 'open'}\n`);
kept.close();
service.close();
