import { readdirSync, readlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { allocMmap, Client, DocaStatus, openDevice, openRepresentor, Server } from '../../dist/index.js';
import { script } from '../helpers/program.js';
import { clientOf, pairOf, serverOf, text } from './helpers.js';

test('what nobody closed is freed by garbage collection, also in the middle of transfers', async () => {
  const program = script('comch-abandon.mjs', []);
  expect([await program.ended, program.output()]).toEqual([0, '0 left\n']);
}, 60_000);

test('an end that only its own waiting refers to is not collected while it waits', async () => {
  const server = serverOf('waits');
  const received = (async () => {
    const device = openDevice('doca_host0', { api: 'comch' });
    await using client = new Client({ device, name: 'waits' });
    return text(await (await client.connect()).receive());
  })();
  const connection = await server.accept();
  for (let i = 0; i < 20; i++) {
    globalThis.gc?.();
    await sleep(5);
  }
  await connection.send(Buffer.from('still there'));
  expect(await received).toBe('still there');
});

test('clients in worker threads; what a thread leaves open ends with it', async () => {
  const program = script('comch-workers.mjs', []);
  const lines = ['closes', 'returns', 'waits'].map((end) => `a worker that ${end}\n`);
  expect([await program.ended, program.output()]).toEqual([0, `${lines.join('')}0 left\n`]);
}, 60_000);

test('close while messages are under way and while others wait', async () => {
  const { server, connected, accepted } = await pairOf('in flight', { sendTasks: 8 });
  const results = Promise.allSettled([
    ...Array.from({ length: 40 }, () => connected.send(Buffer.alloc(100))),
    accepted.receive({ signal: AbortSignal.timeout(1) }),
    connected.nextConsumer(),
    server.accept(),
  ]);
  await sleep(2);
  connected.end.close();
  server.close();
  for (const result of await results) {
    if (result.status === 'rejected') expect((result.reason as Error).name).toMatch(/DocaError|TimeoutError/);
  }
  expect([server.closed, connected.connected, accepted.connected]).toEqual([true, false, false]);
  expect(() => connected.trySend(Buffer.from('x'))).toThrow(/NOT_CONNECTED/);
});

test('junk in any place gives an error, and never a crash', async () => {
  const { server, client, accepted, connected } = await pairOf('junk');
  const mmap = allocMmap(server.device, 4096);
  const consumer = await accepted.createConsumer({ mmap });
  const producer = await connected.createProducer();
  const junk: unknown[] = [undefined, null, -1, 1.5, NaN, 2 ** 40, 7n, '', 'x', Symbol('s'), {}, [], () => 1];
  junk.push(new Uint16Array(9), new Uint8Array(9), new DataView(new ArrayBuffer(2)), { signal: 5 }, { mmap: {} });
  const called = ['trySend', 'send', 'post', 'receive', 'nextConsumer', 'accept', 'connect', 'createConsumer'];
  const targets = { consumer, producer, accepted, connected, server, client };
  for (const [name, target] of Object.entries(targets)) {
    for (let proto: object = target; proto !== Object.prototype; proto = Object.getPrototypeOf(proto) as object) {
      for (const [key, { value }] of Object.entries(Object.getOwnPropertyDescriptors(proto))) {
        // What is for the package alone takes what the package gives.
        if (typeof value !== 'function' || !called.includes(key)) continue;
        for (const first of junk) {
          for (const second of [undefined, 5, { signal: AbortSignal.abort() }]) {
            try {
              const result: unknown = (value as (...args: unknown[]) => unknown).call(target, first, second);
              if (result instanceof Promise) void result.catch(() => undefined);
            } catch (error) {
              expect(error, `${name}.${key}`).toBeInstanceOf(Error);
            }
          }
        }
      }
    }
  }
  expect([accepted.connected, connected.connected]).toEqual([true, true]);
  await server.closeAsync();
  mmap.close();
});

test('a server that is closed can be followed by another of its name', async () => {
  for (let round = 0; round < 3; round++) {
    const server = serverOf('again');
    const [connection] = await Promise.all([server.accept(), clientOf('again').connect()]);
    expect(connection.connected).toBe(true);
    await server.closeAsync();
  }
});

test('close of an end whose producer is closed in the background does not wait for it', async () => {
  const { client, connected } = await pairOf('producer closes');
  const producer = await connected.createProducer();
  const closing = producer.closeAsync();
  const begin = performance.now();
  client.close();
  expect(performance.now() - begin).toBeLessThan(1000);
  client.device.close();
  await closing;
});

test('close ends what closeAsync has begun', async () => {
  const { client } = await pairOf('both closes');
  const closing = client.closeAsync();
  client.close();
  client.device.close();
  await closing;
});

test('an engine that is dropped before its contexts is freed after them', async () => {
  const { server, client } = await pairOf('dropped engine');
  const addon = createRequire(import.meta.url)('../../native/binding/build/Release/verbs_doca_comm.node') as {
    destroyEngine: (engine: unknown) => number;
    restEngine: (engine: unknown) => void;
    abandonContext: (context: unknown) => void;
  };
  const { engine, created } = client as unknown as { engine: { handle: unknown }; created: { handle: unknown } };
  expect(addon.destroyEngine(engine.handle)).toBe(-DocaStatus.IN_USE);
  addon.restEngine(engine.handle);
  addon.abandonContext(created.handle);
  // The other engines of the thread see to that.
  const isFreed = () => {
    server.progress();
    try {
      client.device.close();
      return true;
    } catch {
      return false;
    }
  };
  await expect.poll(isFreed, { timeout: 5000 }).toBe(true);
});

test('a server that is refused for its arguments or its name leaves no engine', () => {
  const engines = () =>
    readdirSync('/proc/self/fd').filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`).startsWith('anon_inode:');
      } catch {
        return false; // the descriptor of the folder
      }
    }).length;
  const device = openDevice('doca_dpu0', { api: 'comch' });
  const deviceRep = openRepresentor(device, '5f5f:3b:00.0');
  serverOf('taken');
  const before = engines();
  for (let n = 0; n < 20; n++) {
    expect(() => new Server({ device, name: 'refused' } as never)).toThrow('options.deviceRep');
    expect(() => new Server({ device, deviceRep: {}, name: 'refused' } as never)).toThrow('options.deviceRep');
    expect(() => new Server({ device, deviceRep, name: 'taken' })).toThrow(
      /ALREADY_EXIST.*another server of this function has the name taken/,
    );
    expect(() => new Server({ device, deviceRep, name: 'long'.repeat(30) })).toThrow(
      /INVALID_VALUE.*the name has 120 bytes; 119 is the maximum/,
    );
  }
  // What earlier tests closed may end meanwhile, or begin.
  expect(engines()).toBeLessThan(before + 20);
  deviceRep.close();
  device.close();
});
