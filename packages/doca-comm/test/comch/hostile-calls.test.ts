// Junk in any place of any call of Comch's own objects gives an error that names the argument, or one of DOCA's, and never a
// crash.
import { expect, onTestFinished, test } from 'vitest';
import * as api from '../../dist/index.js';
import { isProper, junk } from '../helpers/junk.js';
import { pairOf, text } from './helpers.js';

const KINDS = ['server', 'client', 'accepted', 'connected', 'consumer', 'producer', 'mmap'] as const;

async function all(name: string) {
  const pair = await pairOf(name);
  const mmap = api.allocMmap(pair.server.device, 8192);
  const memory = api.allocMmap(pair.client.device, 8192);
  const consumer = await pair.accepted.createConsumer({ mmap });
  const producer = await pair.connected.createProducer();
  onTestFinished(async () => {
    await Promise.all([consumer.closeAsync(), producer.closeAsync()]);
    mmap.close();
    memory.close();
  });
  return { ...pair, mmap, memory, consumer, producer, id: await pair.connected.nextConsumer() };
}

function noRejectionIsLost(): unknown[] {
  const rejected: unknown[] = [];
  const note = (reason: unknown) => rejected.push(reason);
  process.on('unhandledRejection', note);
  onTestFinished(() => {
    process.off('unhandledRejection', note);
  });
  return rejected;
}

test('functions, constructors and their options', async () => {
  const { server } = await all('junk-options');
  for (const value of junk) {
    await isProper('new Server', () => new api.Server(value as never));
    await isProper('new Client', () => new api.Client(value as never));
    await isProper('allocMmap', () => api.allocMmap(value as never, 4096));
    await isProper('allocMmap length', () => {
      api.allocMmap(server.device, value as never).close();
    });
    await isProper('allocMmap permissions', () => {
      api.allocMmap(server.device, 4096, value as never).close();
    });
    for (const option of ['device', 'deviceRep', 'name', 'maxMsgSize', 'recvQueueSize', 'sendTasks']) {
      const options = { device: server.device, name: 'junk-options', [option]: value };
      await isProper(`new Server({ ${option} })`, () => new api.Server(options as never));
      await isProper(`new Client({ ${option} })`, () => {
        const client = new api.Client({ ...options, deviceRep: undefined } as never);
        client.close();
      });
    }
  }
});

test.each(KINDS)('methods and properties: %s', async (kind) => {
  const everything = await all(`junk-${kind}`);
  const target = everything[kind];
  const rejected = noRejectionIsLost();
  let calls = 0;
  const names = new Set<string>();
  for (let at: object = target; at !== Object.prototype; at = Object.getPrototypeOf(at) as object) {
    for (const name of Object.getOwnPropertyNames(at)) names.add(name);
  }
  for (const name of names) {
    const descriptor = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(target), name);
    if (['constructor', 'close', 'closeAsync', 'disconnect', 'gone', 'syscall', 'userData'].includes(name)) continue;
    // What is marked @internal takes what the package's own code gives it.
    if (!isPublic(kind, name)) continue;
    for (const first of junk) {
      if (descriptor !== undefined && 'set' in descriptor) {
        await isProper(`${kind}.${name} =`, () => Reflect.set(target, name, first));
      }
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') continue;
      for (const second of [undefined, everything.id, everything.mmap, { signal: 5 }]) {
        for (const third of [undefined, 5, new Uint8Array(40)]) {
          await isProper(`${kind}.${name}()`, () =>
            (value as (...all: unknown[]) => unknown).apply(target, [first, second, third]),
          );
          calls++;
        }
      }
    }
  }
  expect(calls).toBeGreaterThan(kind === 'mmap' ? -1 : 200);
  expect(rejected).toEqual([]);
});

const PUBLIC: Record<(typeof KINDS)[number], string[]> = {
  server: ['accept', 'progress', 'maxMsgSize', 'connections', 'closed'],
  client: ['connect', 'progress', 'maxMsgSize', 'connections', 'closed'],
  accepted: [
    'trySend',
    'send',
    'poll',
    'receive',
    'nextConsumer',
    'createConsumer',
    'createProducer',
    'counters',
    'consumers',
  ],
  connected: ['trySend', 'send', 'poll', 'receive', 'nextConsumer', 'createConsumer', 'createProducer', 'counters'],
  consumer: ['post', 'poll', 'receive', 'id', 'closed', 'progress'],
  producer: ['trySend', 'send', 'id', 'closed', 'progress'],
  mmap: ['buffer', 'device'],
};
const isPublic = (kind: (typeof KINDS)[number], name: string) => PUBLIC[kind].includes(name);

test('a call that gives a promise rejects it for wrong arguments, and throws nothing', async () => {
  const { server, client, connected, consumer, producer } = await all('junk-promises');
  const aborted = { signal: AbortSignal.abort() };
  const wrong = { signal: 5 } as never;
  const calls = {
    accept: [() => server.accept(wrong), () => server.accept(aborted)],
    connect: [() => client.connect(wrong), () => client.connect(aborted)],
    send: [() => connected.send('x' as never), () => connected.send(new Uint8Array(1), aborted)],
    receive: [() => connected.receive(wrong), () => connected.receive(aborted)],
    nextConsumer: [() => connected.nextConsumer(wrong), () => connected.nextConsumer(aborted)],
    createConsumer: [() => connected.createConsumer({} as never)],
    createProducer: [() => connected.createProducer({ tasks: 0 })],
    'consumer.receive': [() => consumer.receive(wrong), () => consumer.receive(aborted)],
    'producer.send': [() => producer.send(new Uint8Array(1), 1)],
  };
  for (const [name, each] of Object.entries(calls)) {
    for (const call of each) {
      const promise: Promise<unknown> = call();
      await expect(promise, name).rejects.toThrow(/must be|aborted/);
    }
  }
});

test('after all that, both paths still carry messages', async () => {
  const { accepted, connected, consumer, producer, mmap, memory, id } = await all('junk-after');
  for (const value of junk) {
    await isProper('send', () => connected.send(value as never));
    await isProper('post', () => {
      consumer.post(value as never);
    });
    await isProper('producer.send', () => producer.send(value as never, id));
  }
  const message = connected.send(Buffer.from('still here'));
  for (;;) if (text(await accepted.receive()) === 'still here') break;
  await message;
  consumer.post(new Uint8Array(mmap.buffer, 0, 4096));
  new Uint8Array(memory.buffer).fill(7);
  await producer.send(new Uint8Array(memory.buffer, 0, 100), id, Buffer.from('tag'));
  const { data, immediate } = await consumer.receive();
  expect([data.length, data[99], text(immediate)]).toEqual([100, 7, 'tag']);
});
