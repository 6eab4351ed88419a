import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Client, openDevice, openRepresentor, Server } from '../../dist/index.js';
import { clientOf, pairOf, serverOf, text } from './helpers.js';

test('request and reply, awaited', async () => {
  const { accepted, connected } = await pairOf('echo');
  const serving = (async () => {
    for await (const message of accepted) await accepted.send(message);
  })();
  for (let i = 0; i < 100; i++) {
    await connected.send(Buffer.from(`message ${i}`));
    expect(text(await connected.receive())).toBe(`message ${i}`);
  }
  expect(connected.counters()).toMatchObject({ sentMessages: 100n, recvMessages: 100n, inFlight: 0n });
  await connected.disconnect();
  await serving;
  expect([accepted.connected, connected.connected]).toEqual([false, false]);
});

test('polled: false without room, undefined without a message', async () => {
  const { accepted, connected, server } = await pairOf('polled', { sendTasks: 8 });
  expect(connected.poll()).toBeUndefined();
  let sent = 0;
  while (connected.trySend(Buffer.from([sent & 255]))) sent++;
  expect(sent).toBeGreaterThanOrEqual(8);
  for (let i = 0; i < sent; i++) {
    let message = accepted.poll();
    while (message === undefined) {
      connected.poll();
      message = accepted.poll();
    }
    expect(message[0]).toBe(i & 255);
  }
  expect(server.connections).toEqual([accepted]);
});

test('a connection that is not received from is held back, and loses nothing', async () => {
  const { accepted, connected } = await pairOf('held back', { sendTasks: 16, recvQueueSize: 16 });
  const sends = Promise.all(Array.from({ length: 500 }, (_, i) => connected.send(Buffer.from(`${i}`))));
  for (let i = 0; i < 500; i++) expect(text(await accepted.receive())).toBe(`${i}`);
  await sends;
});

test('many clients of a server', async () => {
  const server = serverOf('many');
  const echoing: Promise<void>[] = [];
  const accepting = (async () => {
    for await (const connection of server) {
      echoing.push(
        (async () => {
          // A client that has its answer goes, before it has acknowledged it.
          for await (const message of connection) await connection.send(message).catch(() => undefined);
        })(),
      );
    }
  })();
  await Promise.all(
    Array.from({ length: 10 }, async (_, i) => {
      const connection = await clientOf('many').connect();
      for (let n = 0; n < 20; n++) {
        await connection.send(Buffer.from(`${i} ${n}`));
        expect(text(await connection.receive())).toBe(`${i} ${n}`);
      }
      await connection.disconnect();
    }),
  );
  await server.closeAsync();
  await accepting;
  await Promise.all(echoing);
});

test('a client without a server, a server that goes, a connection that the server ends', async () => {
  await expect(clientOf('nobody').connect()).rejects.toThrow(/CONNECTION_ABORTED.*no service named nobody/);
  const first = await pairOf('goes');
  const waiting = expect(first.connected.receive()).rejects.toMatchObject({ code: 'DOCA_ERROR_CONNECTION_RESET' });
  await first.server.closeAsync();
  await waiting;
  expect(() => first.connected.trySend(Buffer.from('x'))).toThrow(/NOT_CONNECTED/);
  const second = await pairOf('ends');
  await second.accepted.disconnect();
  await expect(second.connected.receive()).rejects.toMatchObject({ code: 'DOCA_ERROR_CONNECTION_RESET' });
  await expect(second.accepted.disconnect()).rejects.toMatchObject({ code: 'DOCA_ERROR_NOT_CONNECTED' });
});

test('connect() of a client whose connection has ended, or that is closed, says so', async () => {
  const { server, client, accepted } = await pairOf('left');
  await accepted.send(Buffer.from('last'));
  await accepted.disconnect();
  // Its messages are there to be received first.
  await sleep(50);
  const left = await client.connect();
  expect(text(await left.receive())).toBe('last');
  await expect(left.receive()).rejects.toMatchObject({ code: 'DOCA_ERROR_CONNECTION_RESET' });
  await expect(client.connect()).rejects.toThrow(/CONNECTION_RESET.*the connection has ended; a new client connects/);
  await client.closeAsync();
  await expect(client.connect()).rejects.toThrow(/NOT_CONNECTED.*the client was closed/);
  const early = clientOf('left');
  const connecting = expect(early.connect()).rejects.toThrow(/NOT_CONNECTED.*the client was closed/);
  early.close();
  await connecting;
  await server.closeAsync();
  expect(() => server.maxMsgSize).toThrow(/NOT_CONNECTED.*it was closed$/);
});

test('wrong roles, arguments and signals', async () => {
  const host = openDevice('doca_host0', { api: 'comch' });
  expect(() => new Server({ device: host, deviceRep: {} as never, name: 'x' })).toThrow(/deviceRep must be/);
  const role = /a server runs on the DPU, and a program on the host connects to it by Client/;
  expect(() => new Server({ device: host, name: 'x' } as never)).toThrow(role);
  const dpu = openDevice('doca_dpu0', { api: 'comch' });
  const deviceRep = openRepresentor(dpu, '5f5f:3b:00.0');
  expect(() => new Server({ device: host, deviceRep, name: 'x' })).toThrow(role);
  expect(() => openRepresentor(host, '5f5f:3b:00.0')).toThrow(/only a DPU has representors: .* connects as a client/);
  const client = () => new Client({ device: dpu, name: 'x' });
  expect(client).toThrow(/NOT_SUPPORTED.*a client runs on the host; on the DPU, a Server accepts it$/);
  deviceRep.close();
  dpu.close();
  expect(() => new Client({ device: host, name: '' })).toThrow(/name must not be empty/);
  expect(() => new Client({ device: host, name: 'x', sendTasks: 0 })).toThrow(/options\.sendTasks must be/);
  expect(() => new Client({ device: host, name: 'x', tasks: 1 } as never)).toThrow(/tasks is not known/);
  const { connected } = await pairOf('signals');
  await expect(connected.receive({ signal: AbortSignal.timeout(20) })).rejects.toMatchObject({ name: 'TimeoutError' });
  expect(() => connected.trySend('x' as never)).toThrow(/message must be a Uint8Array/);
  const gone = new Uint8Array(8);
  structuredClone(gone.buffer, { transfer: [gone.buffer] });
  await expect(connected.send(gone)).rejects.toThrow('message is detached');
  expect(() => connected.trySend(new Uint8Array(5000))).toThrow(/INVALID_VALUE/);
  host.close();
});
