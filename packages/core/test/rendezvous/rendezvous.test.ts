import { type AddressInfo, connect, createServer } from 'node:net';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import {
  MemoryRegion,
  objectCounts,
  openObjects,
  QpAttrMask,
  QpType,
  type RemoteRegion,
  WrOpcode,
} from '../../src/index.js';
import {
  type Connection,
  dial,
  listen,
  type ListenOptions,
  type Request,
  type Server,
} from '../../src/rendezvous/index.js';
import { ALL_ACCESS, open } from '../helpers/devices.js';
import { programPath, run } from '../helpers/program.js';

const closers: { close(): void }[] = [];
afterEach(() => {
  for (const each of closers.splice(0).reverse()) each.close();
});

const kept = <T extends { close(): void }>(object: T): T => {
  closers.push(object);
  return object;
};
const serve = async (options: ListenOptions = {}) => kept(await listen(options));
const next = async (server: Server): Promise<Request> => {
  for await (const request of server) return request;
  throw new Error('the server was closed');
};

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code;
/** A dial that gives up soon: a connection, or the code of its error, which is that of the signal if the server lets it wait. */
const attempt = ({ port }: Server) => dial({ port, signal: AbortSignal.timeout(500) }).catch(codeOf);

it('takes undefined for left out, and says what is wrong before the peer hears of it', async () => {
  const server = await serve({ receive: {} });
  const dialled = dial({ port: server.port });
  const request = await next(server);
  for (const options of [null, { cap: null }, { cap: { maxSendWR: 4 } }, { privateData: 5n }, { privateData: open }])
    await expect(request.accept(options as never)).rejects.toThrow(/^options(\.cap(\.maxSendWR)?|\.privateData)? /);
  const accepted = kept(await request.accept({ receive: undefined, timeout: undefined } as never));
  const client = kept(await dialled);
  expect(accepted.messages.slots).toBeGreaterThan(0);
  await expect(client.send('x', null as never)).rejects.toThrow(/^options must be an object/);
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  await expect(dial({ port: server.port, privateData: circular })).rejects.toThrow(/^options\.privateData is no JSON/);
  const stop = new AbortController();
  const aborted = listen({ signal: stop.signal });
  stop.abort('enough');
  await expect(aborted).rejects.toBe('enough');
});

it('copies the data of messages that wait for a buffer, a Buffer too', async () => {
  const [one, two] = await both({ receive: { slots: 64, size: 64 } });
  const texts = Array.from({ length: 24 }, (_, i) => `message ${i}`);
  const sent = texts.map((text) => {
    const data = Buffer.from(text);
    const promise = one.send(data);
    data.fill(0);
    return promise;
  });
  const got: (string | undefined)[] = [];
  while (got.length < texts.length) got.push((await two.messages.next())?.text());
  await Promise.all(sent);
  expect(got).toEqual(texts);
});

/** Both ends of a connection. */
async function both(options: ListenOptions = {}): Promise<[Connection, Connection]> {
  const server = await serve(options);
  const dialled = dial({ ...options, port: server.port });
  const accepted = await (await next(server)).accept();
  return [kept(await dialled), kept(accepted)];
}

describe('listen and dial', () => {
  it('give both ends a connected pair: an echo', async () => {
    const server = await serve({ receive: { slots: 4, size: 64 } });
    const serving = (async () => {
      for await (const request of server) {
        const connection = await request.accept();
        for await (const message of connection.messages) await message.reply(message.data);
        connection.close();
      }
    })();
    const client = await dial({ port: server.port, receive: {} });
    for (let i = 0; i < 20; i++) {
      await client.send(`message ${i}`);
      expect((await client.messages.next())?.text()).toBe(`message ${i}`);
    }
    client.close();
    await client.disconnected;
    server.close();
    await serving;
    expect(client.closed).toBe(true);
  });

  it('tell each other their buffers: a message that is too long for the peer is refused with that reason', async () => {
    const server = await serve({ receive: { slots: 4, size: 64 } });
    const dialled = dial({ port: server.port, receive: { slots: 3, size: 1_000_000 } });
    const accepted = kept(await (await next(server)).accept());
    const client = kept(await dialled);
    expect([client.peerReceive, accepted.peerReceive]).toEqual([
      { slots: 4, size: 64 },
      { slots: 3, size: 1_000_000 },
    ]);
    await expect(client.send('x'.repeat(65))).rejects.toThrow(
      'data.byteLength must be at most 64, the `receive.size` of the peer; received 65',
    );
    const gone = new Uint8Array(8);
    structuredClone(gone.buffer, { transfer: [gone.buffer] });
    await expect(client.send(gone)).rejects.toThrow('data is detached');
    await expect(client.send(gone.buffer)).rejects.toThrow('data is detached');
    // A longer message than this side's own buffers.
    await accepted.send('y'.repeat(10_000));
    expect((await client.messages.next())?.data.byteLength).toBe(10_000);
    const [plain] = await both();
    expect(plain.peerReceive).toBeUndefined();
  });

  it('end the wait of a send by its signal or its time, and the message itself goes on', async () => {
    // A peer that posts receive requests by hand, and later.
    const server = await serve({ prepare: () => undefined });
    const dialled = dial({ port: server.port });
    const accepted = kept(await (await next(server)).accept());
    const client = kept(await dialled);
    await expect(client.send('first', { timeout: 50 })).rejects.toMatchObject({
      code: 'ETIMEDOUT',
      message: expect.stringContaining('the peer has not taken the message for 50 ms') as string,
    });
    const controller = new AbortController();
    const second = client.send('second', { signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(second).rejects.toThrow('enough');
    const mr = accepted.pd.allocMr(64, ALL_ACCESS);
    for (const text of ['first', 'second']) {
      const { byteLen } = await accepted.qp.recv({ sgList: [{ mr }] });
      expect(new TextDecoder().decode(mr.bytes.subarray(0, byteLen))).toBe(text);
    }
    await expect(client.send('x', { timeout: 0 })).rejects.toThrow('options.timeout');
  });

  it('tell a program at once that its peer takes no messages', async () => {
    const [plain, other] = await both();
    await expect(plain.send('x')).rejects.toMatchObject({
      code: 'ENOBUFS',
      message: expect.stringMatching(
        /takes no messages.*neither the option `receive` nor `prepare`.*qp\.send/,
      ) as string,
    });
    // The queue pair itself waits, as ever.
    const [from, to] = [plain.pd.allocMr(8, ALL_ACCESS), other.pd.allocMr(8, ALL_ACCESS)];
    const sent = plain.qp.send({ opcode: WrOpcode.SEND, sgList: [{ mr: from }] });
    await other.qp.recv({ sgList: [{ mr: to }] });
    await sent;
  });

  it('have a type for the private data', async () => {
    const server = await listen<{ want: string }>();
    kept(server);
    const dialled = dial<RemoteRegion>({ port: server.port, privateData: { want: 'region' } });
    for await (const request of server) {
      const { want } = request.privateData;
      expect(want).toBe('region');
      const { privateData } = kept(await request.accept({ privateData: { addr: '0x10', rkey: 1 } }));
      expect(privateData.want).toBe('region');
      break;
    }
    const { rkey } = kept(await dialled).privateData;
    expect(rkey).toBe(1);
  });

  it('are patient with a peer that gets no processor: 4 seconds', async () => {
    for (const { qp } of await both()) {
      const { timeout, retryCnt } = qp.query(QpAttrMask.TIMEOUT | QpAttrMask.RETRY_CNT).attr;
      expect(4.096e-6 * 2 ** timeout * (retryCnt + 1)).toBeGreaterThan(4);
    }
  });

  it('have the receives of both posted before either can send', async () => {
    const [one, two] = await both({ receive: { slots: 8, size: 16 } });
    await Promise.all([one, two].flatMap((end) => [1, 2, 3, 4].map((i) => end.send(Uint8Array.of(i)))));
    for (const end of [one, two])
      for (const i of [1, 2, 3, 4]) expect((await end.messages.next())?.data).toEqual(Uint8Array.of(i));
  });

  it('carry private data both ways: a region that the peer reads', async () => {
    const ctx = open();
    const pd = ctx.allocPd();
    const mr = pd.allocMr(64, ALL_ACCESS);
    mr.bytes.set([5, 6, 7]);
    const server = await serve({ pd });
    const dialled = dial({ pd, port: server.port, privateData: { want: 'region' } });
    const request = await next(server);
    expect(request.privateData).toEqual({ want: 'region' });
    expect(request.remoteAddress).toBe('127.0.0.1');
    kept(await request.accept({ privateData: mr.remote() }));
    const { qp, privateData } = kept(await dialled);
    const sink = pd.allocMr(64, ALL_ACCESS);
    const remote = privateData as RemoteRegion;
    await qp.send({ opcode: WrOpcode.RDMA_READ, sgList: [{ mr: sink, length: 3 }], remote });
    expect([...sink.bytes.subarray(0, 3)]).toEqual([5, 6, 7]);
  });

  it('call prepare with the queue pair in INIT', async () => {
    const ctx = open();
    const pd = ctx.allocPd();
    const mr = pd.allocMr(64, ALL_ACCESS);
    const server = await serve({ pd });
    const dialled = dial({ port: server.port });
    const prepare: ListenOptions['prepare'] = (qp) => {
      qp.postRecv({ wrId: 4, sgList: [{ mr }] });
    };
    const accepted = kept(await (await next(server)).accept({ prepare }));
    await kept(await dialled).send('hi');
    await accepted.cq.wait();
    expect(accepted.cq.poll()).toMatchObject([{ wrId: 4, byteLen: 2 }]);
    expect(() => accepted.messages).toThrow(/EINVAL.*give the option receive/);
  });

  it('end the messages when the peer is gone, after the last one', async () => {
    const [one, two] = await both({ receive: {} });
    await one.send('first');
    await one.send('last');
    one.close();
    await two.disconnected;
    const seen: string[] = [];
    for await (const message of two.messages) seen.push(message.text());
    expect(seen).toEqual(['first', 'last']);
  });

  it('reject with private data, once', async () => {
    const server = await serve();
    const dialled = dial({ port: server.port });
    const request = await next(server);
    request.reject({ privateData: 'full' });
    await expect(dialled).rejects.toMatchObject({
      ...{ code: 'REJECTED', privateData: 'full', syscall: 'dial' },
      message: `REJECTED: the peer rejected the connection, dial 127.0.0.1 port ${server.port}: it says "full"`,
    });
    expect(() => {
      request.reject();
    }).toThrow(/^EINVAL: the request was accepted or rejected before, accept 127\.0\.0\.1 port \d+$/);
    await expect(request.accept()).rejects.toMatchObject({ code: 'EINVAL' });
  });

  it('are rejected by a peer whatever it says', async () => {
    const deep = '['.repeat(30_000) + ']'.repeat(30_000);
    const peer = createServer((socket) => {
      socket.on('error', () => undefined).once('data', () => socket.end(`{"rejected":true,"privateData":${deep}}\n`));
    }).listen(0, '127.0.0.1');
    await once(peer, 'listening');
    await expect(dial({ port: (peer.address() as AddressInfo).port })).rejects.toMatchObject({ code: 'REJECTED' });
    peer.close();
  });

  it('can be answered after an answer that could not be sent', async () => {
    const server = await serve();
    const dialled = dial({ port: server.port });
    const request = await next(server);
    for (const wrong of [{ privateData: 1n }, null, { reason: 'full' }]) {
      expect(() => {
        request.reject(wrong as never);
      }).toThrow(TypeError);
    }
    expect(() => {
      request.reject({ privateData: 'x'.repeat(70_000) });
    }).toThrow(/^EMSGSIZE/);
    await expect(request.accept({ pd: 5 as never })).rejects.toThrow(/^options\.pd/);
    kept(await request.accept());
    kept(await dialled);
  });

  it('of a closed server are rejected when the program accepts them', async () => {
    const server = await serve();
    const dialled = dial({ port: server.port }).catch(codeOf);
    const request = await next(server);
    server.close();
    await expect(request.accept()).rejects.toThrow(/^EINVAL: the server was closed/);
    expect(await dialled).toBe('REJECTED');
  });

  it('end every iteration when the server is closed', async () => {
    const server = await serve();
    const iterations = [next(server), next(server)].map((each) =>
      each.catch((error: unknown) => (error as Error).message),
    );
    await new Promise((resolve) => setImmediate(resolve));
    server.close();
    expect(await Promise.all(iterations)).toEqual(['the server was closed', 'the server was closed']);
  });

  it('let the program go on behind the block of a connection, where nothing else keeps it alive', async () => {
    const server = await serve();
    const ended = run(programPath('dispose.mjs'), { args: [String(server.port)] });
    const accepted = kept(await (await next(server)).accept({ receive: {} }));
    expect((await accepted.messages.next())?.text()).toBe('hello');
    expect(accepted.closed).toBe(false);
    await accepted.disconnected;
    expect(accepted.closed).toBe(true);
    expect(await ended).toEqual({ code: 0, signal: null, stdout: 'behind the block\n', stderr: '' });
  });

  it('end by signal, by time, and when the server is closed', async () => {
    const server = await serve({ backlog: 1 });
    const reason = new Error('enough');
    await expect(dial({ port: server.port, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const controller = new AbortController();
    const waiting = dial({ port: server.port, signal: controller.signal });
    const request = await next(server);
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect(request.accept()).rejects.toMatchObject({ code: 'ECONNRESET' });
    await expect(dial({ port: server.port, timeout: 50 })).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    // Requests of those who gave up are still there, and the one who waits gets an answer. It waits when there is no room any more.
    const last = dial({ port: server.port }).catch(codeOf);
    await expect.poll(() => attempt(server), { timeout: 20_000 }).toBe('REJECTED');
    server.close();
    expect(await last).toBe('REJECTED');
    await expect(dial({ port: server.port })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('hang up on other protocols, and reject wrong options by name', async () => {
    const server = await serve({ timeout: 200 });
    for (const text of [
      'GET / HTTP/1.1\r\n\r\n',
      '{"verbs":2}\n',
      'null\n',
      '{"verbs":1,"endpoint":null}\n',
      'x'.repeat(100_000),
      '{}\n{}\n{}\n{}\n{}\n',
      '',
    ]) {
      const socket = connect(server.port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(text);
      await once(socket, 'close');
    }
    for (const hello of [{ verbs: 1, endpoint: { qpNum: 'x' } }]) {
      const socket = connect(server.port, '127.0.0.1');
      socket.on('error', () => undefined).resume();
      socket.write(`${JSON.stringify(hello)}\n`);
      await expect((await next(server)).accept()).rejects.toMatchObject({ code: 'EPROTO' });
      await once(socket, 'close');
    }
    await expect(listen({ prot: 1 } as never)).rejects.toThrow(/prot/);
    await expect(listen({ host: 5 } as never)).rejects.toThrow(/^options\.host/);
    await expect(dial({ port: 1, receive: 5 as never })).rejects.toThrow(/^options\.receive must be an object/);
    await expect(dial({ port: 0 })).rejects.toThrow(/^options\.port/);
    await expect(dial({ port: 1, pd: {} as never })).rejects.toThrow(/^options\.pd/);
    const dialled = dial({ port: server.port, privateData: 'x'.repeat(70_000) });
    await expect(dialled).rejects.toMatchObject({ code: 'EMSGSIZE' });
  });

  it('are of a peer that tells more of itself, of a later version for instance', async () => {
    const server = await serve({ receive: {} });
    const cq = open().createCq(2);
    const qp = cq.context
      .allocPd()
      .createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxSendWr: 1, maxRecvWr: 1 } });
    const peer = connect(server.port, '127.0.0.1');
    const receive = { slots: 4, size: 64, later: true };
    peer.write(`${JSON.stringify({ verbs: 1, endpoint: { ...qp.endpoint(), later: true }, receive, later: true })}\n`);
    peer.once('data', () => peer.write('{"ready":true,"later":true}\n'));
    const accepted = kept(await (await next(server)).accept());
    expect(accepted.peerReceive).toEqual({ slots: 4, size: 64 });
    peer.destroy();
  });

  it('are not kept apart by connections that say nothing, or half a message', async () => {
    // Who says nothing may stay for longer than dial() waits.
    const server = await serve({ timeout: 60_000 });
    const half = JSON.stringify({ verbs: 1, endpoint: {} }).slice(0, 20);
    const idle = Array.from({ length: 600 }, (_, i) => {
      const socket = connect(server.port, '127.0.0.1');
      socket.on('error', () => undefined);
      if (i % 2 === 0) socket.write(half);
      return socket;
    });
    await Promise.all(idle.filter(({ destroyed }) => !destroyed).map((socket) => once(socket, 'connect')));
    const dialled = dial({ port: server.port, timeout: 60_000 });
    kept(await (await next(server)).accept());
    kept(await dialled);
    for (const socket of idle) socket.destroy();
  });

  it('reject a request when too many wait, and those who gave up do not count', async () => {
    const server = await serve({ backlog: 2 });
    const controller = new AbortController();
    const given = Array.from({ length: 2 }, () => dial({ port: server.port, signal: controller.signal }));
    // One that comes before the two, or before the server knows that they have gone, gives up again.
    await expect.poll(() => attempt(server), { timeout: 20_000 }).toBe('REJECTED');
    controller.abort();
    await Promise.allSettled(given);
    await expect.poll(() => attempt(server), { timeout: 20_000 }).not.toBe('REJECTED');
    const dialled = dial({ port: server.port });
    // The last who gave up may still be among the requests.
    for await (const request of server) {
      const accepted = await request.accept().catch(() => undefined);
      if (accepted === undefined) continue;
      kept(accepted);
      break;
    }
    kept(await dialled);
  });

  it('are reached at no other address of the machine, unless the program names one', async () => {
    const server = await serve();
    const elsewhere = connect(server.port, '127.0.0.2');
    const [error] = (await once(elsewhere, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNREFUSED');
    const open = await serve({ host: '127.0.0.2' });
    const there = connect(open.port, '127.0.0.2');
    await once(there, 'connect');
    there.destroy();
  });

  it('leave nothing open', async () => {
    const use = async () => {
      const [one, two] = await both({ receive: {} });
      await one.send('x');
      one.close();
      two.close();
      await Promise.all([one.disconnected, two.disconnected]);
      for (const each of closers.splice(0)) each.close();
    };
    await use();
    for (let i = 0; i < 300 && objectCounts()['QueuePair'] !== 0; i++) {
      globalThis.gc?.();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(objectCounts()).toMatchObject({ QueuePair: 0, CompletionQueue: 0 });
  });
});

it('leaves no memory behind where its program fails, and answers nobody for a signal that has come', async () => {
  const ctx = open();
  const pd = ctx.allocPd();
  const regions = () => openObjects().filter((each) => each instanceof MemoryRegion).length;
  const server = await serve();
  const before = regions();
  const prepare = () => {
    throw new Error('no');
  };
  await expect(dial({ port: server.port, pd, receive: {}, prepare })).rejects.toThrow('no');
  expect(regions()).toBe(before);
  const dialled = dial({ port: server.port });
  const request = await next(server);
  await expect(request.accept({ signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');
  await expect(dialled).rejects.toMatchObject({ code: 'REJECTED' });
});

it('names the connection in the error of a send that it ends', async () => {
  const server = await serve({ receive: {} });
  const dialled = dial({ port: server.port, cap: { maxSendWr: 1, maxRecvWr: 1 } });
  kept(await (await next(server)).accept());
  const connection = await dialled;
  const sent = Array.from({ length: 40 }, () => connection.send('x').then(() => '', String));
  connection.close();
  const texts = (await Promise.all(sent)).join();
  expect(texts).toContain('the Connection is closed');
  expect(texts).not.toContain('Receiver');
});
