import { getEventListeners, once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { QpType } from '../../src/index.js';
import { connect, createServer, type SocketServer } from '../../src/stream/index.js';
import { open } from '../helpers/devices.js';

/** A server whose port is taken. */
async function hindered(): Promise<{ server: SocketServer; port: number; errors: Error[] }> {
  const first = createServer().listen();
  onTestFinished(() => first[Symbol.asyncDispose]());
  await once(first, 'listening');
  const errors: Error[] = [];
  const server = createServer().on('error', (error) => errors.push(error));
  return { server, port: first.port, errors };
}

const closing = (server: SocketServer) => new Promise<Error | undefined>((closed) => server.close(closed));

describe('a server', () => {
  it('closes while it starts, also where it cannot listen', async () => {
    const { server, port, errors } = await hindered();
    server.listen(port);
    expect(await closing(server)).toBeUndefined();
    server.listen(port);
    await server[Symbol.asyncDispose]();
    expect([errors, server.listenerCount('close')]).toEqual([[], 0]);
    server.listen(0);
    await once(server, 'listening');
    expect(await closing(server)).toBeUndefined();
  });

  it('calls back with an error, as net.Server, if it was not listening', async () => {
    const { server, port, errors } = await hindered();
    expect(await closing(server)).toMatchObject({ code: 'ERR_SERVER_NOT_RUNNING' });
    expect(await closing(server)).toMatchObject({ code: 'ERR_SERVER_NOT_RUNNING' });
    server.listen(0);
    const both = await Promise.all([closing(server), closing(server)]);
    expect(both).toMatchObject([undefined, { code: 'ERR_SERVER_NOT_RUNNING' }]);
    server.listen(port);
    await expect.poll(() => errors).toMatchObject([{ code: 'EADDRINUSE' }]);
    expect(await closing(server)).toMatchObject({ code: 'ERR_SERVER_NOT_RUNNING' });
    expect(() => server.close(5 as never)).toThrow('listener must be a function');
  });

  it('closes by its signal: before it listens, while it starts, and later', async () => {
    const aborted = createServer({ signal: AbortSignal.abort() }).listen();
    await once(aborted, 'close');
    for (const event of ['starting', 'listening']) {
      const controller = new AbortController();
      const server = createServer({ signal: controller.signal }).listen();
      if (event === 'listening') await once(server, event);
      const closed = once(server, 'close');
      controller.abort();
      await closed;
      expect(server.listening).toBe(false);
    }
  });

  it('does not wait for a peer that falls silent while it is accepted', async () => {
    const server = createServer().listen();
    await once(server, 'listening');
    const cq = open().createCq(2);
    const qp = cq.context
      .allocPd()
      .createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxSendWr: 1, maxRecvWr: 1 } });
    const peer = connectTcp(server.port, '127.0.0.1').on('error', () => undefined);
    onTestFinished(() => {
      peer.destroy();
    });
    const hello = { verbs: 1, endpoint: qp.endpoint(), privateData: 'verbs-stream/1 16x4096' };
    peer.write(`${JSON.stringify(hello)}\n`);
    // It answers, and waits for what never comes.
    await once(peer, 'data');
    expect(server.connections).toBe(1);
    const began = Date.now();
    await server[Symbol.asyncDispose]();
    expect(Date.now() - began).toBeLessThan(5000);
  });

  it('gives a socket before its events, of a peer that ends at once too', async () => {
    const events: string[] = [];
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      for (const name of ['end', 'close']) socket.on(name, () => events.push(name));
      socket.on('end', () => socket.end());
    }).listen();
    onTestFinished(() => server[Symbol.asyncDispose]());
    await once(server, 'listening');
    for (let i = 0; i < 5; i++) {
      const client = connect({ port: server.port });
      client.once('connect', () => client.destroy());
      await expect.poll(() => events, { interval: 20 }).toEqual(['end', 'close']);
      events.length = 0;
    }
  });

  it('leaves no listener at its signal', async () => {
    const { signal } = new AbortController();
    const { port } = await hindered();
    const server = createServer({ signal });
    for (let i = 0; i < 3; i++) {
      server.listen();
      await once(server, 'listening');
      expect(getEventListeners(signal, 'abort').length).toBeGreaterThan(0);
      await closing(server);
    }
    server.listen(port);
    await once(server, 'error');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
