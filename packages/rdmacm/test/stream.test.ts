import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { type Socket, socketOver } from '@verbs/core/stream';
import { expect, it } from 'vitest';
import { connect, type Connection, listen } from '../src/index.js';

// A socket of @verbs/core goes over a connection of this package, which core does not know.

const over = (connection: Connection) => ({
  connection: {
    qp: connection.qp as never,
    disconnected: connection.whenDisconnected(),
    close: () => {
      connection.close();
    },
    remoteAddress: connection.remoteAddress?.address,
    remotePort: connection.remoteAddress?.port,
  },
  peer: connection.privateData,
});

async function readAll(stream: Readable): Promise<Buffer> {
  const parts: Buffer[] = [];
  stream.on('data', (part: Buffer) => parts.push(part));
  await once(stream, 'end');
  return Buffer.concat(parts);
}

it('a socket over the connection manager carries bytes, ends, and knows its peer', async () => {
  const server = listen({ port: 7493 });
  const accept = async (): Promise<Socket> => {
    const request = await server.request();
    return socketOver({
      connect: async ({ prepare, cap, announcement }) => {
        const qp = request.createQp({ cap });
        prepare(qp);
        const privateData = Buffer.from(announcement);
        const { privateData: peer } = request;
        return { ...over(await request.accept({ privateData })), peer };
      },
    });
  };
  const accepted = accept();
  const [host = ''] = server.addresses();
  const client = socketOver({
    connect: async ({ prepare, cap, announcement }) => {
      const privateData = Buffer.from(announcement);
      const options = { qp: { cap }, prepare: prepare as never, privateData, timeout: 5000 };
      return over(await connect({ host, port: 7493, ...options }));
    },
  });
  const there = await accepted;
  there.pipe(there);
  const data = Buffer.alloc(2_000_000, 'by host and port');
  client.end(data);
  expect((await readAll(client)).equals(data)).toBe(true);
  expect(client.remotePort).toBe(7493);
  expect([client.errored, there.errored]).toEqual([null, null]);
  server.close();
});
