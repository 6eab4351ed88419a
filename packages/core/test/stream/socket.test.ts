import { constants } from 'node:buffer';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Duplex, type Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { MemoryRegion, openObjects } from '../../src/index.js';
import {
  connect,
  type ConnectSocketOptions,
  createServer,
  type Socket,
  type SocketOptions,
  type SocketServer,
} from '../../src/stream/index.js';
import { dial, listen } from '../../src/rendezvous/index.js';
import { programPath, run } from '../helpers/program.js';

const servers: SocketServer[] = [];
const clients: Socket[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  for (const server of servers.splice(0)) await server[Symbol.asyncDispose]();
});

async function serve(listener: (socket: Socket) => void, options: SocketOptions = {}): Promise<number> {
  const server = createServer(options, listener).listen();
  servers.push(server);
  await once(server, 'listening');
  return server.address()?.port ?? 0;
}

/** Both ends of a connection. */
async function both(
  options: SocketOptions = {},
  clientOptions: Omit<ConnectSocketOptions, 'port'> = options,
): Promise<[client: Socket, server: Socket]> {
  const accepted: Socket[] = [];
  const port = await serve((socket) => accepted.push(socket), options);
  const client = connect({ ...clientOptions, port });
  clients.push(client);
  await once(client, 'connect');
  await expect.poll(() => accepted.length, { interval: 1 }).toBe(1);
  const [server] = accepted;
  if (server === undefined) throw new Error('nobody connected');
  return [client, server];
}

/** To the end, without closing the other direction, as `for await` does. */
async function readAll(stream: Readable): Promise<Buffer> {
  const parts: Buffer[] = [];
  stream.on('data', (part: Buffer) => parts.push(part)).resume();
  await once(stream, 'end');
  return Buffer.concat(parts);
}

const closed = (socket: Socket) => (socket.closed ? Promise.resolve() : once(socket, 'close'));

describe('a socket', () => {
  it('carries bytes both ways, and ends as one of node:net', async () => {
    const [client, server] = await both();
    client.write('hel');
    client.end('lo');
    expect(String(await readAll(server))).toBe('hello');
    // allowHalfOpen is false: the server's side ended by itself.
    expect(await readAll(client)).toHaveLength(0);
    await Promise.all([closed(client), closed(server)]);
    expect([client.bytesWritten, server.bytesRead]).toEqual([5, 5]);
    expect([client.errored, server.errored]).toEqual([null, null]);
  });

  it('takes bytes before it is connected', async () => {
    const port = await serve((socket) => socket.pipe(socket));
    const client = connect({ port });
    expect(client.connecting).toBe(true);
    expect(client.readyState).toBe('opening');
    client.end('early');
    expect(String(await readAll(client))).toBe('early');
  });

  it('is half open where that is allowed', async () => {
    const [client, server] = await both({ allowHalfOpen: true });
    client.end('question');
    expect(String(await readAll(server))).toBe('question');
    expect(client.readyState).toBe('readOnly');
    await sleep(20);
    server.end('answer');
    expect(String(await readAll(client))).toBe('answer');
  });

  it.each([
    [1, 300_000],
    [256, 300_000],
    [65_536, 5_000_000],
    [65_537, 5_000_000],
    [3_000_000, 12_000_000],
  ])('carries writes of %i bytes, whatever the buffers of both ends', async (size, total) => {
    const data = randomBytes(Math.min(total, 4000 * size));
    for (const [mine, other] of [
      [{}, {}],
      [{ slots: 8, size: 256 }, {}],
      [
        { slots: 9, size: 5000 },
        { slots: 64, size: 300 },
      ],
    ]) {
      const part = data.subarray(0, mine === undefined || 'size' in mine ? 200_000 : data.length);
      const [client, server] = await both(mine, other);
      const received = readAll(server);
      for (let at = 0; at < part.length; at += size) client.write(part.subarray(at, at + size));
      client.end();
      expect((await received).equals(part)).toBe(true);
    }
  });

  it('carries bytes in both directions at a time', async () => {
    const [client, server] = await both({ slots: 8, size: 1024 });
    const [there, back] = [randomBytes(500_000), randomBytes(700_000)];
    const [gotThere, gotBack] = [readAll(server), readAll(client)];
    client.end(there);
    server.end(back);
    expect((await gotThere).equals(there)).toBe(true);
    expect((await gotBack).equals(back)).toBe(true);
  });

  it('is iterated', async () => {
    const [client, server] = await both();
    client.end('one by one');
    let text = '';
    for await (const part of server) text += String(part);
    expect(text).toBe('one by one');
  });

  it('is a Web stream by Duplex.toWeb', async () => {
    const port = await serve((socket) => socket.pipe(socket));
    const { readable, writable } = Duplex.toWeb(connect({ port }));
    const writer = writable.getWriter();
    await writer.write(Buffer.from('web'));
    const reader = readable.getReader() as ReadableStreamDefaultReader<Uint8Array>;
    expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe('web');
    await writer.close();
    expect((await reader.read()).done).toBe(true);
  });

  it('knows its ends', async () => {
    const [client, server] = await both();
    expect(client.remoteAddress).toBe('127.0.0.1');
    expect(client.remotePort).toBe(server.localPort);
    expect(client.localPort).toBe(server.remotePort);
    expect(client.address()).toEqual({ address: '127.0.0.1', family: 'IPv4', port: client.localPort });
    client.destroy();
  });

  it('slows a writer down whose reader is slow: memory stays flat', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'verbs-stream-'));
    try {
      const [from, to] = [join(directory, 'from'), join(directory, 'to')];
      writeFileSync(from, randomBytes(24 << 20));
      const [client, server] = await both();
      let most = 0;
      const file = createWriteStream(to);
      const slow = new Writable({
        highWaterMark: 1 << 16,
        write(chunk, _encoding, callback) {
          most = Math.max(most, client.writableLength + server.readableLength);
          setTimeout(() => file.write(chunk, callback), 1);
        },
      });
      await Promise.all([pipeline(createReadStream(from), client), pipeline(server, slow)]);
      file.end();
      await once(file, 'close');
      const hash = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');
      expect(hash(to)).toBe(hash(from));
      expect(most).toBeLessThan(1 << 20);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('stops the writer at what the peer has room for', async () => {
    const [client, server] = await both({ slots: 8, size: 4096 });
    server.pause();
    let drained = false;
    client.once('drain', () => (drained = true));
    const all = randomBytes(1 << 20);
    for (let at = 0; at < all.length; at += 8192) client.write(all.subarray(at, at + 8192));
    await sleep(100);
    expect(drained).toBe(false);
    // 8 slots of the peer, less the reserve, and the reader's own buffer.
    expect(client.writableLength).toBeGreaterThan(all.length - 3 * 8 * 4096 - 65_536);
    const received = readAll(server);
    await once(client, 'drain');
    client.end();
    expect((await received).equals(all)).toBe(true);
    expect(drained).toBe(true);
  });

  it('sends what is written in one turn in one message, and long writes in full ones', async () => {
    const [client, server] = await both({ size: 1000 });
    const sizes: number[] = [];
    server.on('data', (part: Buffer) => sizes.push(part.length));
    for (let i = 0; i < 90; i++) client.write(Buffer.alloc(10));
    await expect.poll(() => sizes).toEqual([900]);
    client.cork();
    for (let i = 0; i < 25; i++) client.write(Buffer.alloc(100));
    process.nextTick(() => {
      client.uncork();
    });
    await expect.poll(() => sizes).toEqual([900, 1000, 1000, 500]);
    client.write(Buffer.alloc(1500));
    client.write(Buffer.alloc(0));
    client.end(Buffer.alloc(1));
    await once(server, 'end');
    expect(sizes.slice(4)).toEqual([1000, 501]);
  });

  it('has memory for sending from its first byte on', async () => {
    const [client, server] = await both();
    const regions = () =>
      openObjects().filter((object) => object instanceof MemoryRegion && object.pd === client.qp?.pd);
    expect(regions()).toHaveLength(1);
    await new Promise((written) => client.write('', written));
    expect(regions()).toHaveLength(1);
    client.write('x');
    expect(String(((await once(server, 'data')) as [Buffer])[0])).toBe('x');
    expect(regions()).toHaveLength(2);
    // For full messages it is memory that a peer can map.
    client.write(Buffer.alloc(300_000));
    await once(server, 'data');
    expect(regions()).toHaveLength(3);
  });

  it('fails when bytes that wait for room are taken away, by that reason', async () => {
    const [client, server] = await both({ slots: 8, size: 4096 });
    server.pause();
    const taken = new Uint8Array(100_000);
    client.write(taken);
    structuredClone(taken, { transfer: [taken.buffer] });
    const failed = once(client, 'error') as Promise<[Error]>;
    server.on('error', () => undefined).resume();
    const [error] = await failed;
    expect(error.message).toContain('chunk was detached or resized while it waited');
  });

  it('goes on when a listener throws, which is an uncaught exception as anywhere', async () => {
    const { stdout, stderr, code } = await run(programPath('socket-listener-throws.mjs'));
    expect({ stdout, stderr, code }).toEqual({ stdout: 'caught first\nsecond\n', stderr: '', code: 0 });
  });

  it('has no timeout while bytes leave, however long a write takes', async () => {
    const [client, server] = await both({ slots: 8, size: 4096 });
    let timeouts = 0;
    server.setTimeout(150).on('timeout', () => timeouts++);
    server.write(Buffer.alloc(3_200_000));
    let received = 0;
    // Some of it in each moment, for longer than the timeout.
    while (received < 3_200_000) {
      received += (client.read() as Buffer | null)?.byteLength ?? 0;
      await sleep(20);
    }
    expect(timeouts).toBe(0);
    await once(server, 'timeout');
  });

  it('fails a write whose bytes are taken away before they leave', async () => {
    const port = await serve((socket) => socket.resume());
    const client = connect({ port });
    clients.push(client);
    const bytes = new Uint8Array(1000);
    const written = new Promise<Error | null | undefined>((resolve) => client.write(bytes, resolve));
    client.on('error', () => undefined);
    structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
    expect(await written).toMatchObject({ message: expect.stringContaining('was detached') as string });
  });

  it('has a timeout for silence, and stays open', async () => {
    const [client, server] = await both();
    const began = Date.now();
    client.setTimeout(60);
    await sleep(40);
    client.write('x');
    await once(client, 'timeout');
    expect(Date.now() - began).toBeGreaterThan(90);
    expect(client.destroyed).toBe(false);
    client.end('y');
    expect(String(await readAll(server))).toBe('xy');
  });

  it('gives the peer what was written before destroy()', async () => {
    const [client, server] = await both();
    client.write('last words');
    client.destroy();
    expect(String(await readAll(server))).toBe('last words');
    await closed(server);
    expect(server.errored).toBeNull();
  });

  it('gives the peer an error after destroy(error)', async () => {
    const [client, server] = await both();
    const failed = once(server, 'error') as Promise<[NodeJS.ErrnoException]>;
    client.on('error', () => undefined);
    client.destroy(new Error('out of order'));
    const [{ code, message }] = await failed;
    expect(code).toBe('ECONNRESET');
    expect(message).toContain('the peer is gone');
    expect(client.errored?.message).toBe('out of order');
  });

  it('is destroyed by its signal, also while it connects', async () => {
    const silent = await listen();
    const controller = new AbortController();
    const client = connect({ port: silent.port, signal: controller.signal });
    setTimeout(() => {
      controller.abort();
    }, 20);
    const [error] = (await once(client, 'error')) as [Error];
    expect(error.name).toBe('AbortError');
    silent.close();
  });

  it('is destroyed by a signal that was aborted before', async () => {
    const client = connect({ port: 1, signal: AbortSignal.abort() });
    const [error] = (await once(client, 'error')) as [Error];
    expect(error.name).toBe('AbortError');
    expect(client.destroyed).toBe(true);
  });

  it('says why it cannot connect', async () => {
    const nobody = connect({ port: 1 });
    expect(((await once(nobody, 'error')) as [NodeJS.ErrnoException])[0].code).toBe('ECONNREFUSED');
    // A program of the rendezvous that is no socket.
    const other = await listen();
    const accepting = (async () => {
      for await (const request of other) (await request.accept().catch(() => undefined))?.close();
    })();
    const client = connect({ port: other.port });
    const [error] = (await once(client, 'error')) as [Error];
    expect(error.message).toMatch(
      /^EPROTO: the peer is no socket of @verbs\/core\/stream .* listen\(\) .* takes dial\(\)/,
    );
    other.close();
    await accepting;
    const port = await serve(() => undefined);
    await expect(dial({ port, privateData: 'hello' })).rejects.toThrow(
      /^REJECTED: the peer rejected the connection, dial 127\.0\.0\.1 port \d+: it says "here is a socket server of .* connect\(\)/,
    );
    expect(() => connect({ port: 1, slot: 9 } as never)).toThrow('options.slot is not known here');
    expect(() => connect({ port: 1, slots: 2 })).toThrow('options.slots must be an integer from 8 to 1024');
  });

  // From version 22 on, Node.js itself has room for the largest.
  it.skipIf(constants.MAX_LENGTH > 2 ** 34)(
    'refuses buffers that are larger than any of Node.js (of version 20)',
    () => {
      const options = { slots: 1024, size: 2 ** 24 };
      const refusal = /^options\.size must be at most \d+ with 1024 slots; received 16777216$/;
      expect(() => createServer(options)).toThrow(refusal);
      expect(() => connect({ port: 1, ...options })).toThrow(refusal);
    },
  );

  it('leaves nothing behind, however it ends', async () => {
    const { stdout, stderr } = await run(programPath('socket-churn.mjs'), { nodeArgs: ['--expose-gc'] });
    expect([stdout, stderr]).toEqual(['0 left\n', '']);
  });
});

describe('a server', () => {
  it('serves 100 sockets at a time', async () => {
    const port = await serve((socket) => socket.pipe(socket), { slots: 8, size: 4096 });
    const replies = await Promise.all(
      Array.from({ length: 100 }, async (_, i) => {
        const socket = connect({ port, slots: 8, size: 4096 });
        socket.end(`I am ${i}, ${'x'.repeat(10_000)}`);
        return String(await readAll(socket));
      }),
    );
    expect(replies.map((text) => text.slice(0, 8).split(',')[0])).toEqual(
      Array.from({ length: 100 }, (_, i) => `I am ${i}`.slice(0, 8)),
    );
  }, 60_000);

  it('closes when its last socket has', async () => {
    const server = createServer((socket) => socket.resume()).listen({ port: 0 });
    await once(server, 'listening');
    const client = connect({ port: server.address()?.port ?? 0 });
    await once(client, 'connect');
    await expect.poll(() => server.connections).toBe(1);
    let over = false;
    server.close(() => (over = true));
    await sleep(20);
    expect([over, server.listening, server.address()]).toEqual([false, false, null]);
    client.end();
    client.resume();
    await once(server, 'close');
  });

  it('takes its arguments as one object, and listens once at a time', async () => {
    expect(() => connect(18_515 as never)).toThrow(/^options must be an object, as \{ port, host \}; received 18515$/);
    const server = createServer();
    expect(() => server.listen(0, '::1' as never)).toThrow(
      /^listener must be a function \(a host .* listen\(\{ port, host \}\)/,
    );
    server.listen(0);
    expect(() => server.listen(0)).toThrow(expect.objectContaining({ code: 'ERR_SERVER_ALREADY_LISTEN' }));
    await once(server, 'listening');
    expect(() => server.listen(0)).toThrow(/the server listens already/);
    server.close();
    await once(server, 'close');
    server.listen(0);
    await once(server, 'listening');
    server.close();
  });

  it('cannot listen twice at a port', async () => {
    const port = await serve(() => undefined);
    const second = createServer().listen(port);
    const [error] = (await once(second, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('EADDRINUSE');
    expect(error.message).toMatch(
      new RegExp(
        `127\\.0\\.0\\.1:${port}: process ${process.pid} \\(.+\\) listens there; end that, or choose another port`,
      ),
    );
  });
});

describe('HTTP over a socket', () => {
  it('has a server, a client with kept connections, and bodies of any size', async () => {
    const web = http.createServer((request, response) => {
      response.setHeader('x-method', request.method ?? '');
      request.pipe(response);
    });
    let connections = 0;
    const port = await serve((socket) => {
      connections++;
      web.emit('connection', socket);
    });
    class Agent extends http.Agent {
      override createConnection() {
        return connect({ port });
      }
    }
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = (body: Buffer) =>
      new Promise<Buffer>((resolve, reject) => {
        const request = http.request({ agent, method: 'POST', path: '/' }, (response) => {
          expect(response.headers['x-method']).toBe('POST');
          readAll(response).then(resolve, reject);
        });
        request.on('error', reject).end(body);
      });
    for (const size of [0, 10, 100_000, 3_000_000]) {
      const body = randomBytes(size);
      expect((await ask(body)).equals(body)).toBe(true);
    }
    expect(connections).toBe(1);
    agent.destroy();
    web.close();
  });
});
