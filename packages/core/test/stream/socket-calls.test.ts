import { once } from 'node:events';
import process from 'node:process';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AccessFlags, WrOpcode } from '../../src/index.js';
import { dial } from '../../src/rendezvous/index.js';
import { connect, createServer, type Socket, socketOver, type SocketOptions } from '../../src/stream/index.js';
import { open } from '../helpers/devices.js';
import { programPath, run } from '../helpers/program.js';

async function serve(listener: (socket: Socket) => void, options: SocketOptions = {}): Promise<number> {
  const server = createServer(options, listener).listen();
  onTestFinished(() => server[Symbol.asyncDispose]());
  await once(server, 'listening');
  return server.port;
}

async function readAll(stream: Readable): Promise<string> {
  let text = '';
  for await (const part of stream) text += String(part);
  return text;
}

describe('a socket', () => {
  it('takes writes in its event connect, also where destroy() follows', async () => {
    const texts: Promise<string>[] = [];
    const port = await serve((socket) => texts.push(readAll(socket)));
    const client = connect({ port }, () => {
      client.write('first words');
      client.destroy();
    });
    await expect.poll(() => texts.length).toBe(1);
    expect(await texts[0]).toBe('first words');

    const quick = await serve((socket) => {
      socket.write('last words');
      socket.destroy();
    });
    expect(await readAll(connect({ port: quick }))).toBe('last words');
  });

  it('goes on when a listener or a callback throws, which is an uncaught exception', async () => {
    const { stdout, stderr, code } = await run(programPath('stream-listeners-throw.mjs'));
    const errors = 'connect,connection,drain,drain of the port,listening,write callback';
    expect({ stdout, stderr, code }).toEqual({
      stdout: `400004 null null\n[ 'early' ]\n[ 'late' ]\n${errors}\n`,
      stderr: '',
      code: 0,
    });
  });

  it('takes a shorter timeout while a longer one runs', async () => {
    const port = await serve((socket) => socket.resume());
    const client = connect({ port });
    await once(client, 'connect');
    client.setTimeout(60_000);
    client.setTimeout(20);
    await once(client, 'timeout');
    client.setTimeout(60_000);
    let early = false;
    client.setTimeout(20, () => (early = true)).setTimeout(0);
    await sleep(60);
    expect(early).toBe(false);
    client.destroy();
  });

  it('counts the bytes that were written once, also those that wait', async () => {
    const sockets: Socket[] = [];
    const port = await serve((socket) => sockets.push(socket.pause()), { slots: 8, size: 4096 });
    const client = connect({ port });
    for (let i = 0; i < 10; i++) client.write(Buffer.alloc(50_000));
    expect(client.bytesWritten).toBe(500_000);
    await once(client, 'connect');
    await sleep(50);
    expect(client.writableLength).toBeGreaterThan(0);
    expect(client.bytesWritten).toBe(500_000);
    sockets[0]?.resume();
    client.end('x');
    await once(client, 'finish');
    expect(client.bytesWritten).toBe(500_001);
  });

  it('has no error of its own reset, and says in close whether there was one, as a socket of node:net', async () => {
    const events: unknown[] = [];
    const port = await serve((socket) => {
      socket.on('error', ({ code }: NodeJS.ErrnoException) => events.push(code));
      socket.on('close', (hadError: boolean) => events.push(hadError));
    });
    const client = connect({ port });
    await once(client, 'connect');
    client.resetAndDestroy();
    expect(await once(client, 'close')).toEqual([false]);
    expect(client.errored).toBeNull();
    await expect.poll(() => events).toEqual(['ECONNRESET', true]);
  });

  it.each(['context', 'queue pair'])(
    'closes when the program closes its %s, and so does the other end',
    async (what) => {
      const others: Promise<unknown>[] = [];
      const port = await serve((socket) => {
        socket.setKeepAlive(true, 50).on('error', () => undefined);
        others.push(new Promise((closed) => socket.once('close', closed)));
      });
      const ctx = open();
      const client = connect({ port, pd: ctx.allocPd() });
      await once(client, 'connect');
      client.setKeepAlive(true, 50);
      await expect.poll(() => others.length).toBe(1);
      const closed = once(client, 'close');
      if (what === 'context') ctx.close();
      else client.qp?.close();
      await closed;
      expect(client.errored).toBeNull();
      await others[0];
    },
  );

  it('ends with a connection whose manager fails, and has one probe at a time', async () => {
    const port = await serve((socket) => socket.on('error', () => undefined));
    let fails: (reason: Error) => void = () => undefined;
    const socket = socketOver({
      connect: async ({ prepare, cap, announcement }) => {
        const connection = await dial({ port, cap, prepare, privateData: announcement });
        const { qp, privateData: peer } = connection;
        const disconnected = new Promise<void>((_, reject) => (fails = reject));
        return {
          connection: {
            qp,
            disconnected,
            close: () => {
              connection.close();
            },
          },
          peer,
        };
      },
    });
    const warnings: Error[] = [];
    const warned = (warning: Error) => warnings.push(warning);
    process.on('warning', warned);
    await once(socket, 'connect');
    socket.setKeepAlive(true, 2 ** 40);
    const failed = once(socket, 'error');
    fails(new Error('of the manager'));
    expect(await failed).toMatchObject([{ code: 'ECONNRESET' }]);
    process.off('warning', warned);
    expect(warnings).toEqual([]);
  });

  it.each([Infinity, 2 ** 31, NaN, -1])('refuses a timeout of %d', async (milliseconds) => {
    const client = connect({ port: 1 });
    const failed = once(client, 'error');
    expect(() => client.setTimeout(milliseconds)).toThrow(
      expect.objectContaining({ name: 'RangeError', code: 'ERR_OUT_OF_RANGE' }),
    );
    expect(client.timeout).toBe(0);
    await failed;
  });

  it('is not made with a listener that is none', async () => {
    let connections = 0;
    const port = await serve(() => connections++);
    expect(() => connect({ port }, 'connected' as never)).toThrow('listener must be a function');
    await sleep(100);
    expect(connections).toBe(0);
  });

  it.each([
    ['nothing', () => Promise.resolve(undefined), 'an object with connection and peer; received undefined'],
    ['no promise', () => undefined, 'an object with connection and peer; received undefined'],
    ['no connection', () => Promise.resolve({ peer: '' }), 'an object with connection and peer; received'],
    [
      'an exception',
      () => {
        throw new Error('at once');
      },
      'at once',
    ],
  ])('fails by its error where a connect of the program gives %s', async (_what, given, message) => {
    const socket = socketOver({ connect: given as never });
    const [error] = (await once(socket, 'error')) as [Error];
    expect(error.message).toContain(message);
    expect([socket.connecting, socket.readyState]).toEqual([false, 'closed']);
  });

  it('ends at once while it connects, and closes a connection that comes later, once', async () => {
    const stop = new AbortController();
    let closes = 0;
    const connection = { qp: {}, disconnected: Promise.resolve(), close: () => closes++ };
    const made = { connection, peer: 'verbs-stream/1 16x131072' };
    let come: (value: unknown) => void = () => undefined;
    const late = new Promise((resolve) => (come = resolve));
    for (const [given, signal] of [
      [late, stop.signal],
      [Promise.resolve(made), undefined], // without prepare()
    ] as const) {
      const socket = socketOver({ connect: () => given as never, ...(signal && { signal }) });
      const errors: Error[] = [];
      socket.on('error', (error) => errors.push(error));
      const closed = new Promise((resolve) => socket.once('close', resolve));
      await sleep(5);
      stop.abort();
      await closed;
      expect([errors.length, socket.connecting, socket.readyState]).toEqual([1, false, 'closed']);
      come(made);
      await expect.poll(() => closes).toBe(1);
      await sleep(5);
      expect(closes).toBe(1);
      closes = 0;
    }
  });

  it('fails for a peer that writes with immediate data, whose length is not that of the message', async () => {
    const pd = open().allocPd();
    const offered = pd.allocMr(8192, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE);
    let failed: Promise<[NodeJS.ErrnoException]> | undefined;
    let bytes = 0;
    const port = await serve(
      (socket) => {
        socket.on('data', (part: Buffer) => (bytes += part.length));
        failed = once(socket, 'error') as Promise<[NodeJS.ErrnoException]>;
      },
      { pd, slots: 8, size: 256 },
    );
    const connection = await dial({
      pd,
      port,
      privateData: 'verbs-stream/1 8x256',
      cap: { maxSendWr: 8, maxRecvWr: 8 },
      prepare: () => undefined,
    });
    await expect.poll(() => failed !== undefined).toBe(true);
    const sgList = [{ mr: pd.allocMr(8192, AccessFlags.LOCAL_WRITE), length: 4000 }];
    const { RDMA_WRITE_WITH_IMM: opcode } = WrOpcode;
    // Its acknowledgement may come behind the end.
    connection.qp.send({ opcode, immData: 0, sgList, remote: offered.remote() }).catch(() => undefined);
    expect((await failed)?.[0]).toMatchObject({
      code: 'EPROTO',
      message: expect.stringContaining('RDMA_WRITE_WITH_IMM') as string,
    });
    expect(bytes).toBe(0);
    connection.close();
  });
});
