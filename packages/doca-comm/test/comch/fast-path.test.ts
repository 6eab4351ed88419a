import { constants } from 'node:buffer';
import { createHash, randomBytes } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInThisContext } from 'node:vm';
import { expect, onTestFinished, test } from 'vitest';
import { allocMmap, type Connection, DocaAccess, type Mmap } from '../../dist/index.js';
import { pairOf, text } from './helpers.js';

const MIB = 1 << 20;
const sum = (data: Uint8Array) => createHash('sha256').update(data).digest('hex');

function mmapOf(connection: Connection, length: number, permissions?: number): Mmap {
  const mmap = allocMmap(connection.end.device, length, permissions);
  onTestFinished(async () => {
    await connection.end.closeAsync();
    mmap.close();
  });
  return mmap;
}
const part = (mmap: Mmap, index: number, length: number) => new Uint8Array(mmap.buffer, index * length, length);

test('messages of 1 MiB arrive in the posted memory, with their immediate data', async () => {
  const { accepted, connected } = await pairOf('large');
  const [from, to] = [mmapOf(connected, 4 * MIB), mmapOf(accepted, 4 * MIB)];
  const consumer = await accepted.createConsumer({ mmap: to });
  const producer = await connected.createProducer();
  const id = await connected.nextConsumer();
  expect(id).toBe(consumer.id);
  expect(connected.consumers).toEqual([id]);
  for (let i = 0; i < 4; i++) {
    randomBytes(MIB).copy(part(from, i, MIB));
    expect(consumer.post(part(to, i, MIB))).toBe(true);
  }
  for (let i = 0; i < 4; i++) {
    const sending = producer.send(part(from, i, MIB), id, Buffer.from(`number ${i}`));
    const { data, immediate, producerId } = await consumer.receive();
    await sending;
    expect([text(immediate), producerId, data.byteOffset]).toEqual([`number ${i}`, producer.id, i * MIB]);
    expect(sum(data)).toBe(sum(part(from, i, MIB)));
  }
});

test('a message longer than the posted view fails at both ends with that reason, and the next one takes the next view', async () => {
  const { accepted, connected } = await pairOf('longer');
  const [from, to] = [mmapOf(connected, 4096), mmapOf(accepted, 4096)];
  const consumer = await accepted.createConsumer({ mmap: to });
  const producer = await connected.createProducer();
  const id = await connected.nextConsumer();
  consumer.post(part(to, 0, 10));
  consumer.post(part(to, 1, 1000));
  await expect(producer.send(part(from, 0, 20), id)).rejects.toThrow('is longer than the buffer');
  await expect(consumer.receive()).rejects.toThrow('is longer than the posted view, which has 10 bytes');
  await producer.send(part(from, 0, 20), id);
  expect((await consumer.receive()).data.byteLength).toBe(20);
});

test('a producer waits for posted memory; no more tasks is false', async () => {
  const { accepted, connected } = await pairOf('pressure');
  const [from, to] = [mmapOf(connected, 64 * 1024), mmapOf(accepted, 64 * 1024)];
  const consumer = await accepted.createConsumer({ mmap: to, tasks: 4 });
  const producer = await connected.createProducer({ tasks: 4 });
  const id = await connected.nextConsumer();
  let posted = 0;
  while (consumer.post(part(to, posted, 64))) posted++;
  expect(posted).toBe(4);
  const sends = Array.from({ length: 40 }, (_, i) => {
    part(from, i, 64).fill(i);
    return producer.send(part(from, i, 64), id);
  });
  for (let i = 0; i < 40; i++) {
    const { data } = await consumer.receive();
    expect(data).toEqual(new Uint8Array(64).fill(i));
    if (i < 36) consumer.post(data);
  }
  await Promise.all(sends);
});

test('many producers and consumers of one connection, both ways', async () => {
  const { accepted, connected } = await pairOf('crowd');
  const lanes = 4;
  const count = 25;
  const one = async (from: Connection, to: Connection) => {
    const [source, target] = [mmapOf(from, 256 * lanes), mmapOf(to, 256 * lanes)];
    const consumers = await Promise.all(Array.from({ length: lanes }, () => to.createConsumer({ mmap: target })));
    const producers = await Promise.all(Array.from({ length: lanes }, () => from.createProducer()));
    await Promise.all(
      consumers.map(async (consumer, lane) => {
        const receiving = (async () => {
          for (let n = 0; n < count; n++) {
            consumer.post(part(target, lane, 256));
            const { data, producerId } = await consumer.receive();
            expect([data[0], producerId]).toEqual([n, producers[lane]?.id]);
          }
        })();
        while (!from.consumers.includes(consumer.id)) await from.nextConsumer();
        for (let n = 0; n < count; n++) {
          const view = part(source, lane, 256);
          view.fill(n);
          await producers[lane]?.send(view, consumer.id);
        }
        await receiving;
      }),
    );
  };
  await one(connected, accepted);
  await one(accepted, connected);
});

test('what is posted fails when the consumer closes; a consumer that closes is gone at the peer', async () => {
  const { accepted, connected } = await pairOf('closing');
  const to = mmapOf(accepted, 4096);
  const consumer = await accepted.createConsumer({ mmap: to });
  const id = await connected.nextConsumer();
  consumer.post(new Uint8Array(to.buffer));
  expect(() => {
    to.close();
  }).toThrow(/IN_USE/);
  const waiting = consumer.receive();
  await consumer.closeAsync();
  await expect(waiting).rejects.toMatchObject({ name: 'DocaError' });
  await expect.poll(() => (connected.poll(), connected.consumers)).not.toContain(id);
  expect(() => consumer.post(new Uint8Array(to.buffer))).toThrow(/NOT_CONNECTED/);
});

test('a connection that ends in the middle of a transfer', async () => {
  const { accepted, connected, client } = await pairOf('middle');
  const [from, to] = [mmapOf(connected, MIB), mmapOf(accepted, MIB)];
  const consumer = await accepted.createConsumer({ mmap: to });
  const producer = await connected.createProducer();
  const id = await connected.nextConsumer();
  // Nothing is posted.
  const failed = expect(producer.send(new Uint8Array(from.buffer), id)).rejects.toMatchObject({ name: 'DocaError' });
  const ended = expect(consumer.receive()).rejects.toMatchObject({ code: 'DOCA_ERROR_CONNECTION_RESET' });
  await client.closeAsync();
  await failed;
  await ended;
});

test('what has arrived before the connection ended is received', async () => {
  const { accepted, connected, client } = await pairOf('arrived');
  const [from, to] = [mmapOf(connected, 4096), mmapOf(accepted, 4096)];
  const consumer = await accepted.createConsumer({ mmap: to });
  const producer = await connected.createProducer();
  const id = await connected.nextConsumer();
  for (let i = 0; i < 3; i++) consumer.post(part(to, i, 1000));
  const ended = expect(accepted.receive()).rejects.toMatchObject({ code: 'DOCA_ERROR_CONNECTION_RESET' });
  for (let i = 1; i <= 2; i++) await producer.send(part(from, 0, i), id);
  await client.closeAsync();
  await ended;
  expect((await consumer.receive()).data.length).toBe(1);
  for await (const { data } of consumer) expect(data.length).toBe(2);
  await expect(consumer.receive()).rejects.toMatchObject({ code: 'DOCA_ERROR_CONNECTION_RESET' });
});

test('memory is checked', async () => {
  const { accepted, connected } = await pairOf('checked');
  const [from, to] = [mmapOf(connected, 4096, DocaAccess.PCI_READ_ONLY), mmapOf(accepted, 4096)];
  const consumer = await accepted.createConsumer({ mmap: to });
  const producer = await connected.createProducer();
  const id = await connected.nextConsumer();
  expect(() => consumer.post(new Uint8Array(16))).toThrow(/view must be a view of memory of allocMmap/);
  expect(() => consumer.post(new Uint8Array(from.buffer))).toThrow(/view must be a view of the consumer's mmap/);
  expect(() => producer.trySend(Buffer.from('x'), id)).toThrow(/view must be a view of memory/);
  expect(() => producer.trySend(new Uint8Array(from.buffer), -1)).toThrow(/consumer must be/);
  expect(() => producer.trySend(new Uint8Array(from.buffer), id, new Uint8Array(2000))).toThrow(/INVALID_VALUE/);
  for (const length of [0, constants.MAX_LENGTH + 1, 2 ** 40]) {
    expect(() => allocMmap(connected.end.device, length)).toThrow(/length must be/);
  }
  const both = DocaAccess.PCI_READ_ONLY | DocaAccess.PCI_READ_WRITE;
  expect(() => allocMmap(connected.end.device, 10, both)).toThrow(/permissions 48 has both PCI_READ_ONLY and/);
  expect(() => allocMmap({} as never, 10)).toThrow(/device must be a Device/);
});

test('consumers and producers that are refused say for which argument', async () => {
  const { accepted, connected } = await pairOf('refused');
  const [from, to] = [mmapOf(connected, 4096), mmapOf(accepted, 4096)];
  const fixed = mmapOf(accepted, 4096, DocaAccess.LOCAL_READ_ONLY);
  const closed = allocMmap(accepted.end.device, 4096);
  closed.close();
  await expect(accepted.createConsumer({ mmap: from })).rejects.toThrow(/options\.mmap is memory of another device/);
  await expect(accepted.createConsumer({ mmap: fixed })).rejects.toThrow(/options\.mmap is .* nobody may write to/);
  await expect(accepted.createConsumer({ mmap: closed })).rejects.toThrow(/options\.mmap is memory that is closed/);
  const tasks = 8193;
  const most = "options.tasks 8193: the device's maximum is 8192";
  await expect(accepted.createConsumer({ mmap: to, tasks })).rejects.toThrow(most);
  await expect(accepted.createProducer({ tasks })).rejects.toThrow(most);
  const consumer = await accepted.createConsumer({ mmap: to });
  const producer = await connected.createProducer();
  const id = await connected.nextConsumer();
  expect(() => producer.trySend(new Uint8Array(to.buffer), id)).toThrow(/the view is memory of another device/);
  // 4 GiB: the lower 32 bits of that length are no length.
  const huge = mmapOf(connected, constants.MAX_LENGTH >= 2 ** 32 ? 2 ** 32 : 2 ** 31);
  const whole = new Uint8Array(huge.buffer);
  expect(() => producer.trySend(whole, id)).toThrow(`the view has ${whole.length} bytes; the device's maximum is`);

  // A buffer that is gone when the message is there, and views of it.
  setFlagsFromString('--allow-natives-syntax');
  const detach = runInThisContext('(buffer) => %ArrayBufferDetach(buffer)') as (buffer: ArrayBuffer) => void;
  const view = new Uint8Array(to.buffer);
  expect(consumer.post(view)).toBe(true);
  detach(to.buffer);
  await producer.send(new Uint8Array(from.buffer, 0, 10), id);
  await expect(consumer.receive()).rejects.toThrow('view is detached');
  expect(() => consumer.post(view)).toThrow('view is detached');
  const source = new Uint8Array(from.buffer);
  detach(from.buffer);
  expect(() => producer.trySend(source, id)).toThrow('view is detached');
});
