// Opens and closes sockets, and prints how many native objects are left when all is collected.
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { objectCounts } from '@verbs/core';
import { connect, createServer } from '@verbs/core/stream';

async function one(how) {
  const server = createServer((socket) => socket.resume()).listen();
  await once(server, 'listening');
  const client = connect({ port: server.address().port });
  client.resume().on('error', () => undefined);
  if (how === 0) client.end('hello');
  else client.write('hello', () => client.destroy(how === 1 ? undefined : new Error('on purpose')));
  const closed = new Promise((resolve) => client.once('close', resolve));
  server.on('connection', (socket) => socket.on('error', () => undefined));
  await closed;
  server.close();
  await once(server, 'close');
}

for (let i = 0; i < 6; i++) await one(i % 3);
let left = Infinity;
for (let i = 0; i < 40 && left !== 0; i++) {
  await sleep(250);
  globalThis.gc();
  const { QueuePair, MemoryRegion, CompletionQueue, Context } = objectCounts();
  left = QueuePair + MemoryRegion + CompletionQueue + Context;
}
console.log(`${left} left`);
