import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Duplex, PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import v8 from 'node:v8';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  connect,
  createServer,
  messagePort,
  type MessagePortOptions,
  type Socket,
  type SocketMessagePort,
  type SocketServer,
} from '../../src/stream/index.js';
import { programPath, run } from '../helpers/program.js';
import { collect } from '../shared/collect.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Both ends of a connection. */
async function sockets(): Promise<[Socket, Socket]> {
  const server: SocketServer = createServer().listen();
  closers.push(() => server[Symbol.asyncDispose]());
  await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const client = connect({ port: server.port });
  closers.push(() => client.destroy());
  await once(client, 'connect');
  return [client, (await accepted)[0]];
}

async function both(
  one: MessagePortOptions = {},
  other: MessagePortOptions = one,
): Promise<[SocketMessagePort, SocketMessagePort]> {
  const [client, server] = await sockets();
  return [messagePort(client, one), messagePort(server, other)];
}

const next = async (port: SocketMessagePort): Promise<unknown> => {
  for await (const value of port) return value;
  throw new Error('the port was closed');
};

describe('a message port', () => {
  it('carries what structuredClone can copy', async () => {
    const [one, two] = await both();
    const cycle: Record<string, unknown> = { name: 'cycle' };
    cycle['self'] = cycle;
    const values: unknown[] = [
      undefined,
      null,
      'text',
      -1.5,
      2n ** 70n,
      new Date(5),
      /a+/gi,
      [1, , 3], // eslint-disable-line no-sparse-arrays -- a hole is a value, too
      new Map<unknown, unknown>([[{ a: 1 }, new Set([1, 'two'])]]),
      new Uint8Array([1, 2, 3]),
      new Float64Array([0.5, Infinity]),
      new Uint16Array([1, 2, 3, 4]).subarray(1, 3),
      new DataView(Uint8Array.of(9, 8, 7).buffer, 1),
      Uint8Array.of(4, 5).buffer,
      cycle,
    ];
    for (const value of values) one.postMessage(value);
    for (const value of values) expect(await next(two)).toEqual(structuredClone(value));
    one.postMessage(new RangeError('an error'));
    expect(await next(two)).toMatchObject({ name: 'RangeError', message: 'an error' });
  });

  it('gives typed arrays a buffer of their own, with their own bytes only', async () => {
    const [one, two] = await both();
    const secret = Buffer.from('before the message after');
    one.postMessage([secret.subarray(7, 18), new Float32Array([1, 2, 3, 4]).subarray(1, 2)]);
    const [bytes, floats] = (await next(two)) as [Uint8Array, Float32Array];
    expect(String(bytes)).toBe('the message');
    expect([bytes.buffer.byteLength, floats.buffer.byteLength]).toEqual([11, 4]);
  });

  it('clones at once: the program may change the value', async () => {
    const [one, two] = await both();
    const value = { list: [1] };
    one.postMessage(value);
    value.list.push(2);
    one.postMessage(value);
    expect(await next(two)).toEqual({ list: [1] });
    expect(await next(two)).toEqual({ list: [1, 2] });
  });

  it('carries messages of any size, in both directions at a time, in their order', async () => {
    const [one, two] = await both();
    const sizes = [0, 1, 131_000, 131_072, 131_073, 5_000_000, 2];
    const take = async (port: SocketMessagePort) => {
      const lengths: number[] = [];
      for await (const value of port) {
        const bytes = value as Uint8Array;
        expect(bytes.every((byte) => byte === bytes.byteLength % 251)).toBe(true);
        if (lengths.push(bytes.byteLength) === sizes.length) break;
      }
      return lengths;
    };
    const taken = [take(one), take(two)];
    for (const size of sizes) for (const port of [one, two]) port.postMessage(new Uint8Array(size).fill(size % 251));
    expect(await Promise.all(taken)).toEqual([sizes, sizes]);
  });

  it('begins with the first listener, and loses nothing before', async () => {
    const [one, two] = await both();
    for (let i = 0; i < 1000; i++) one.postMessage(i);
    await sleep(20);
    const seen: unknown[] = [];
    two.on('message', (value) => seen.push(value));
    await expect.poll(() => seen.length).toBe(1000);
    expect(seen).toEqual(Array.from({ length: 1000 }, (_, i) => i));
  });

  it('slows down who posts, by drain, where nobody takes', async () => {
    const [one, two] = await both();
    one.postMessage('first');
    expect(await next(two)).toBe('first');
    let posted = 0;
    while (one.postMessage(new Uint8Array(100_000))) expect(++posted).toBeLessThan(1000);
    const drained = once(one, 'drain');
    let taken = 0;
    two.on('message', () => taken++);
    await drained;
    await expect.poll(() => taken).toBe(posted + 1);
  });

  it('refuses what cannot be cloned, and goes on', async () => {
    const [one, two] = await both();
    expect(() => one.postMessage({ call: () => 1 })).toThrow(/could not be cloned/);
    expect(() => one.postMessage(new SharedArrayBuffer(8))).toThrow(/could not be cloned/);
    one.postMessage('after');
    expect(await next(two)).toBe('after');
  });

  it('refuses here what is too long for the peer, with that reason', async () => {
    const [one, two] = await both({}, { maxBytes: 1000 });
    one.postMessage('short');
    expect(await next(two)).toBe('short');
    expect(() => one.postMessage(new Uint8Array(1000))).toThrow(
      /value must be at most 1000 bytes in its serialized form, `maxBytes` of the peer; received 10\d\d/,
    );
    one.postMessage('after');
    two.postMessage(new Uint8Array(5000));
    expect(await next(two)).toBe('after');
    expect(((await next(one)) as Uint8Array).byteLength).toBe(5000);
  });

  it('ends with that reason if it was posted before the peer had told', async () => {
    const [client, server] = await sockets();
    const one = messagePort(client);
    one.postMessage(new Uint8Array(2000));
    messagePort(server, { maxBytes: 1000 });
    await expect(next(one)).rejects.toThrow('`maxBytes` of the peer');
  });

  it('emits messageerror for a value that was posted too early and is too long, and sends the others', async () => {
    const [client, server] = await sockets();
    const one = messagePort(client);
    const errors: Error[] = [];
    one.on('messageerror', (error) => errors.push(error));
    for (const value of ['first', new Uint8Array(2000), 'third']) one.postMessage(value);
    const two = messagePort(server, { maxBytes: 1000 });
    expect([await next(two), await next(two)]).toEqual(['first', 'third']);
    expect(errors).toMatchObject([{ name: 'RangeError', code: 'ERR_OUT_OF_RANGE' }]);
    expect(one.closed).toBe(false);
  });

  it('sends what was posted before such a value, where nobody listens for that', async () => {
    const [client, server] = await sockets();
    const one = messagePort(client);
    const failed = once(one, 'error');
    for (const value of ['first', new Uint8Array(2000), 'third']) one.postMessage(value);
    const seen: unknown[] = [];
    for await (const value of messagePort(server, { maxBytes: 1000 })) seen.push(value);
    expect(seen).toEqual(['first']);
    expect(await failed).toMatchObject([{ name: 'RangeError' }]);
  });

  it('ends over a socket that is closed, with its error', async () => {
    const [client] = await sockets();
    client.destroy();
    await once(client, 'close');
    const port = messagePort(client);
    expect(port.closed).toBe(true);
    await once(port, 'close');
    const [other, peer] = await sockets();
    peer.on('error', () => undefined);
    other.on('error', () => undefined).destroy(new Error('broken'));
    await expect.poll(() => other.closed).toBe(true);
    await sleep(1);
    await expect(next(messagePort(other))).rejects.toThrow('broken');
  });

  it('gives the peer what was posted before close()', async () => {
    const [one, two] = await both();
    one.postMessage('early');
    for (let i = 0; i < 100; i++) one.postMessage(new Uint8Array(50_000).fill(i));
    one.close();
    expect(one.closed).toBe(true);
    expect(() => one.postMessage('late')).toThrow(/ERR_VERBS_CLOSED/);
    const seen: unknown[] = [];
    for await (const value of two) seen.push(value);
    expect(seen).toHaveLength(101);
    expect(two.closed).toBe(true);
  });

  it('gives out what had arrived although nobody listened when the peer ended', async () => {
    const [one, two] = await both();
    one.postMessage('last words');
    one.close();
    await sleep(50);
    const seen: unknown[] = [];
    const closed = once(two, 'close');
    two.on('message', (value) => seen.push(value));
    await closed;
    expect(seen).toEqual(['last words']);
  });

  it('ends with the peer over sockets that may be half open', async () => {
    const server = createServer({ allowHalfOpen: true }).listen();
    closers.push(() => server[Symbol.asyncDispose]());
    await once(server, 'listening');
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const one = messagePort(connect({ port: server.port, allowHalfOpen: true }));
    const [socket] = await accepted;
    const two = messagePort(socket);
    one.postMessage('last words');
    const closed = once(one, 'close');
    one.close();
    const seen: unknown[] = [];
    for await (const value of two) seen.push(value);
    expect(seen).toEqual(['last words']);
    await closed;

    const over = new PassThrough();
    over.end();
    await once(over.resume(), 'end');
    await once(messagePort(Duplex.from({ readable: over, writable: new PassThrough().resume() })), 'close');
  });

  it('sends all that was posted early where a listener for an error closes the port, or posts', async () => {
    for (const act of ['close', 'post']) {
      const [client, server] = await sockets();
      const one = messagePort(client);
      const errors: Error[] = [];
      one.on('error', (error) => errors.push(error));
      one.on('messageerror', () => {
        if (act === 'close') one.close();
        else one.postMessage('last');
      });
      for (const value of [new Uint8Array(2000), 'second', 'third']) one.postMessage(value);
      const two = messagePort(server, { maxBytes: 1000 });
      const seen = [await next(two), await next(two)];
      if (act === 'post') seen.push(await next(two));
      else await once(one, 'close');
      expect(seen).toEqual(act === 'post' ? ['second', 'third', 'last'] : ['second', 'third']);
      expect(errors).toEqual([]);
    }
  });

  it('holds a message that comes byte by byte in not much more memory than its own', async () => {
    const wire = new PassThrough();
    const port = messagePort(Duplex.from({ readable: wire, writable: new PassThrough().resume() }));
    const { socket } = port;
    const value = { bytes: randomBytes(200_000), text: 'behind' };
    const message = v8.serialize(value);
    const head = Buffer.from('verbsmp1\x04\0\0\0\0\0\0\0', 'latin1');
    head.writeUInt32BE(message.byteLength, 12);
    const all = Buffer.concat([head, message]);
    const got = next(port);
    const used = async () => {
      await collect();
      return process.memoryUsage().heapUsed;
    };
    const before = await used();
    const last = all.byteLength - 1;
    for (let at = 0; at < last; at++) socket.emit('data', Buffer.from(all.subarray(at, at + 1)));
    // 100 bytes a chunk would be 20 MB.
    expect((await used()) - before).toBeLessThan(8e6);
    socket.emit('data', all.subarray(last));
    expect(await got).toEqual(value);
  });

  it('tells a peer that is no port: both of them', async () => {
    const [client, server] = await sockets();
    const port = messagePort(client);
    server.write('HTTP/1.1 200 OK\r\n');
    const [error] = (await once(port, 'error')) as [Error];
    expect(error.message).toMatch(/EPROTO: the peer is no message port/);
  });

  it('fails where the peer ends without having told what it is, and messages wait', async () => {
    const [client, server] = await sockets();
    const port = messagePort(client);
    port.postMessage('nobody gets this');
    server.resume().end();
    expect(await once(port, 'error')).toMatchObject([{ code: 'EPROTO' }]);
    const [other, silent] = await sockets();
    const idle = messagePort(other);
    silent.resume().end();
    await once(idle, 'close');
  });

  it('takes the bytes of a foreign peer for what they are: errors, never a crash', async () => {
    const good = v8.serialize({
      list: [1, 'two', new Map([[3n, new Float64Array(4)]]), new Date()],
      more: Buffer.from('bytes'),
    });
    let seed = 7;
    const random = (below: number) => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) % below;
    let errors = 0;
    let values = 0;
    const wire = new PassThrough();
    const port = messagePort(Duplex.from({ readable: wire, writable: new PassThrough().resume() }));
    port.on('messageerror', () => errors++);
    port.on('message', () => values++);
    wire.write(Buffer.concat([Buffer.from('verbsmp1'), Buffer.from([0, 1, 0, 0])]));
    for (let i = 0; i < 5000; i++) {
      const bytes = Buffer.from(good.subarray(0, random(4) === 0 ? random(good.byteLength) : good.byteLength));
      for (let n = random(4); n >= 0 && bytes.byteLength > 0; n--) bytes[random(bytes.byteLength)] = random(256);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.byteLength);
      wire.write(length);
      wire.write(bytes);
    }
    await expect.poll(() => errors + values).toBe(5000);
    expect(errors).toBeGreaterThan(500);
    expect(port.closed).toBe(false);
    // A length that nobody allocates before the bytes are there.
    wire.write(Buffer.from([0xff, 0xff, 0xff, 0xff]));
    const [error] = (await once(port, 'error')) as [Error];
    expect(error.message).toMatch(
      /EMSGSIZE: the peer sends a message of 4294967295 bytes, and this side takes at most 67108864/,
    );
  });

  it('ends with the error where bytes are no value and nobody listens for that', async () => {
    const wire = new PassThrough();
    const port = messagePort(Duplex.from({ readable: wire, writable: new PassThrough().resume() }));
    wire.write(Buffer.concat([Buffer.from('verbsmp1'), Buffer.from([0, 1, 0, 0, 0, 0, 0, 2, 1, 2])]));
    await expect(next(port)).rejects.toThrow(/deserialize/);
  });

  it('throws the end of a killed peer in the iteration, and emits it otherwise', async () => {
    for (const iterated of [true, false]) {
      const [client, server] = await sockets();
      const [one, two] = [messagePort(client), messagePort(server)];
      one.postMessage('hello');
      expect(await once(two, 'message')).toEqual(['hello']);
      client.resetAndDestroy();
      one.on('error', () => undefined);
      if (iterated) await expect(next(two)).rejects.toMatchObject({ code: 'ECONNRESET' });
      else expect(await once(two, 'error')).toMatchObject([{ code: 'ECONNRESET' }]);
    }
  });

  it('refuses wrong arguments by their names', async () => {
    expect(() => messagePort({} as never)).toThrow(/socket must be a Socket, or another Duplex/);
    const [client] = await sockets();
    expect(() => messagePort(client, { maxBytes: 0 })).toThrow('options.maxBytes');
    expect(() => messagePort(client, { max: 1 } as MessagePortOptions)).toThrow(/max/);
  });

  it('goes on when a listener throws, which is an uncaught exception as anywhere', async () => {
    const { stdout, stderr, code } = await run(programPath('port-listener-throws.mjs'));
    expect({ stdout, stderr, code }).toEqual({ stdout: 'second\ncaught first\n', stderr: '', code: 0 });
  });
});

it('a getter that closes the port ends the call alone', async () => {
  const [one, two] = await both();
  const first = next(two);
  one.postMessage('first');
  expect(await first).toBe('first');
  const closes = {
    get value() {
      one.close();
      return 1;
    },
  };
  const closed = once(one, 'close');
  expect(() => one.postMessage(closes)).toThrow(expect.objectContaining({ code: 'ERR_VERBS_CLOSED' }));
  await closed;
});

it('a port that is closed waits ten seconds at most for a peer to say that it is one', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const silent = new Duplex({
      read: () => undefined,
      write: (_chunk, _encoding, done) => {
        done();
      },
    });
    const port = messagePort(silent);
    const failed = once(port, 'error');
    port.postMessage('for nobody');
    port.close();
    vi.advanceTimersByTime(10_000);
    expect(await failed).toMatchObject([{ code: 'EPROTO' }]);
  } finally {
    vi.useRealTimers();
  }
});

it('is closed by close() where the peer has gone and a message of it was not taken', async () => {
  const [one, two] = await both();
  one.postMessage('not taken');
  one.close();
  await once(two.socket, 'close');
  const closed = once(two, 'close');
  two.close();
  await closed;
});
