// One side of two that send each other many messages of mixed size at once, and compare every byte:
//   stream.mjs service|client NAME COUNT
import { Endpoint, openDevice, openRepresentor } from '../../dist/index.js';

const [role, name, count] = [process.argv[2], process.argv[3], Number(process.argv[4])];
const MAX = 4080;

// What message number n is, both sides know: a piece of the same long text without pattern.
const pool = new Uint8Array(1 << 20);
for (let i = 0, x = 1; i < pool.length; i++) {
  x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
  pool[i] = x >>> 24;
}
function message(direction, n) {
  const mixed = Math.imul(n + 1 + direction * 7919, 2654435761) >>> 0;
  const size = 1 + (mixed % MAX);
  const offset = (mixed >>> 8) % (pool.length - MAX);
  return pool.subarray(offset, offset + size);
}

async function sendAll(endpoint, peer, direction) {
  for (let n = 0; n < count; n++) await endpoint.send(message(direction, n), peer);
}

async function receiveAll(endpoint, direction, first) {
  let told = performance.now();
  for (let n = 0; n < count; n++) {
    if (n % 1024 === 0 && performance.now() - told > 5000) {
      told = performance.now();
      process.stdout.write(`${n} of ${count}\n`);
    }
    const { data } = n === 0 && first !== undefined ? first : await endpoint.receive();
    const expected = message(direction, n);
    if (Buffer.compare(data, expected) !== 0) {
      throw new Error(`message ${n} is not the one that was sent: ${data.length} bytes, expected ${expected.length}`);
    }
  }
}

if (role === 'service') {
  const device = openDevice('doca_dpu0');
  const endpoint = new Endpoint({ device, deviceRep: openRepresentor(device, '5f5f:3b:00.0') });
  endpoint.listen(name);
  process.stdout.write('listening\n');
  const first = await endpoint.receive();
  await Promise.all([sendAll(endpoint, first.peer, 1), receiveAll(endpoint, 0, first)]);
  // The client goes first.
  await endpoint.receive().catch(() => undefined);
  process.stdout.write(`done, ${first.peer.stats().recvMessages} received\n`);
  endpoint.close();
} else {
  const endpoint = new Endpoint({ device: openDevice('doca_host0') });
  const peer = endpoint.connect(name);
  const start = performance.now();
  await Promise.all([sendAll(endpoint, peer, 0), receiveAll(endpoint, 1)]);
  await endpoint.drained();
  process.stdout.write(`done in ${((performance.now() - start) / 1000).toFixed(1)} s\n`);
  endpoint.close();
}
