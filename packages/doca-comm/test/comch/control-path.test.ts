import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { allocMmap, Client, DocaStatus, openDevice, openRepresentor, Server, setFaults } from '../../dist/index.js';
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

test('a send completes while messages wait to be received', async () => {
  const { accepted, connected } = await pairOf('unread');
  const unread = Array.from({ length: 100 }, (_, i) => accepted.send(Buffer.from(`${i}`)));
  for (let i = 0; i < 3; i++) await connected.send(Buffer.from('x'));
  for (let i = 0; i < 100; i++) expect(text(await connected.receive())).toBe(`${i}`);
  await Promise.all(unread);
});

test('what arrives behind messages that wait to be received is there when there is room for it', async () => {
  const { server, accepted, connected } = await pairOf('behind');
  const next = server.accept();
  for (let i = 0; i < 64; i++) await connected.send(Buffer.from(`${i}`));
  await expect.poll(() => accepted.backlog).toBe(64);
  const later = await clientOf('behind').connect();
  for (let i = 0; i < 64; i++) expect(text(await accepted.receive())).toBe(`${i}`);
  const second = await next;
  await later.send(Buffer.from('at last'));
  expect(text(await second.receive())).toBe('at last');
});

test('an end whose messages nobody receives sleeps when it takes no more, and goes on when somebody does', async () => {
  const { server, accepted, connected } = await pairOf('nobody receives');
  const next = server.accept();
  const most = 2400;
  let sent = 0;
  const pump = async () => {
    for (let i = 0; i < most / 24; i++) {
      await connected.send(new Uint8Array(4000));
      sent++;
    }
  };
  const pumps = Promise.all(Array.from({ length: 24 }, pump));
  for (let last = -1; last !== sent;) {
    last = sent;
    await sleep(100);
  }
  expect(sent).toBeLessThan(most);
  const addon = createRequire(import.meta.url)('../../native/binding/build/Release/verbs_doca_comm.node') as {
    armEngine: (engine: unknown) => number;
  };
  const armed = vi.spyOn(addon, 'armEngine');
  await sleep(100);
  expect(armed.mock.calls.length).toBeLessThan(50);
  armed.mockRestore();
  for (let i = 0; i < most; i++) expect((await accepted.receive()).length).toBe(4000);
  await pumps;
  const later = await clientOf('nobody receives').connect();
  expect((await next).connected).toBe(later.connected);
}, 30_000);

test('messages go to the calls of receive() in their order, and a call that gives up makes way', async () => {
  const { client, accepted, connected } = await pairOf('in turn');
  const first = accepted.receive();
  await sleep(5);
  // It arrives while nobody looks.
  connected.trySend(Buffer.from('first'));
  while (connected.counters().inFlight > 0n) client.progress();
  const second = accepted.receive();
  const giveUp = new AbortController();
  const third = accepted.receive({ signal: giveUp.signal });
  const fourth = accepted.receive();
  connected.trySend(Buffer.from('second'));
  expect([text(await first), text(await second)]).toEqual(['first', 'second']);
  giveUp.abort(new Error('enough'));
  await expect(third).rejects.toThrow('enough');
  connected.trySend(Buffer.from('third'));
  expect(text(await fourth)).toBe('third');
});

test('memory that goes while its message waits for room is refused', async () => {
  const { accepted, connected } = await pairOf('no room', { sendTasks: 8, recvQueueSize: 8 });
  const sends = Array.from({ length: 60 }, () => connected.send(Buffer.from('y')));
  const gone = new Uint8Array(8);
  const refused = expect(connected.send(gone)).rejects.toThrow('message is detached');
  structuredClone(gone.buffer, { transfer: [gone.buffer] });
  for (let i = 0; i < 60; i++) await accepted.receive();
  await Promise.all(sends);
  await refused;
  expect(accepted.poll()).toBeUndefined();
});

test('a message that is longer than the other end takes: the error says so, and the next one arrives', async () => {
  const server = serverOf('shorter', { maxMsgSize: 100 });
  const [accepted, connected] = await Promise.all([server.accept(), clientOf('shorter').connect()]);
  const sent = connected.send(Buffer.alloc(101));
  await expect(sent).rejects.toThrow(/INVALID_VALUE.*the message.* is longer than the other end takes/);
  await connected.send(Buffer.alloc(100));
  expect((await accepted.receive()).length).toBe(100);
});

test('the counters of a connection that has ended stay, and the addon keeps nothing of it', async () => {
  const server = serverOf('counted');
  const { comchCounters } = createRequire(import.meta.url)(
    '../../native/binding/build/Release/verbs_doca_comm.node',
  ) as {
    comchCounters: (end: unknown, connection: number, out: BigUint64Array) => number;
  };
  for (let i = 0; i < 3; i++) {
    const client = clientOf('counted');
    const [accepted, connected] = await Promise.all([server.accept(), client.connect()]);
    await connected.send(Buffer.from('12345'));
    await accepted.receive();
    if (i === 0) await accepted.disconnect();
    await client.closeAsync();
    await expect(accepted.receive()).rejects.toMatchObject({ code: 'DOCA_ERROR_CONNECTION_RESET' });
    const { handle } = server.created;
    expect(comchCounters(handle, accepted.number, new BigUint64Array(5))).toBe(-DocaStatus.NOT_CONNECTED);
    expect(accepted.counters()).toMatchObject({ recvMessages: 1n, recvBytes: 5n, inFlight: 0n });
    expect(connected.counters()).toMatchObject({ sentMessages: 1n, sentBytes: 5n, inFlight: 0n });
  }
});

test('they stay when both ends disconnect, twice, and when messages wait that nobody will receive', async () => {
  const server = serverOf('counted twice');
  for (let i = 0; i < 3; i++) {
    const client = clientOf('counted twice');
    const [accepted, connected] = await Promise.all([server.accept(), client.connect()]);
    await connected.send(Buffer.from('12345'));
    await accepted.receive();
    await Promise.allSettled([accepted.disconnect(), accepted.disconnect(), ...(i > 0 ? [client.closeAsync()] : [])]);
    expect(accepted.counters()).toMatchObject({ recvMessages: 1n, recvBytes: 5n, inFlight: 0n });
  }
  const client = clientOf('counted twice');
  const [accepted, connected] = await Promise.all([server.accept(), client.connect()]);
  for (let i = 0; i < 64; i++) await accepted.send(Buffer.from('x'));
  while (connected.backlog < 64) client.progress();
  await client.closeAsync();
  expect(connected.counters()).toMatchObject({ recvMessages: 64n, inFlight: 0n });
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

test('what waits for a connection ends when the server disconnects it', async () => {
  const { accepted } = await pairOf('own end');
  const ended = { code: 'DOCA_ERROR_CONNECTION_RESET' };
  const waiting = [
    expect(accepted.receive()).rejects.toMatchObject(ended),
    expect(accepted.nextConsumer()).rejects.toMatchObject(ended),
    (async () => {
      for await (const message of accepted) expect(message).toBeUndefined();
    })(),
  ];
  await sleep(20);
  await accepted.disconnect();
  await Promise.all(waiting);
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
  setFaults('registry:1:EACCES');
  const unregistered = () => new Server({ device: dpu, deviceRep, name: 'x' });
  expect(unregistered).toThrow(/INITIALIZATION.*the registry: Permission denied/);
  setFaults(null);
  expect(() => openRepresentor(host, '5f5f:3b:00.0')).toThrow(/only a DPU has representors: .* connects as a client/);
  const client = () => new Client({ device: dpu, name: 'x' });
  expect(client).toThrow(/NOT_SUPPORTED.*a client runs on the host; on the DPU, a Server accepts it$/);
  deviceRep.close();
  dpu.close();
  const closed = /INVALID_VALUE, \w+(create|create_list): an argument is wrong, or one of its objects is closed$/;
  expect(() => openRepresentor(dpu, '5f5f:3b:00.0')).toThrow(closed);
  expect(() => new Server({ device: dpu, deviceRep, name: 'x' })).toThrow(closed);
  expect(() => allocMmap(dpu, 4096)).toThrow(closed);
  // What is left out is the first device; what names none is no option.
  for (const options of [{ api: undefined }, {}]) {
    using first = openDevice(options as never);
    expect(first.info.ibdevName).toBe('doca_host0');
  }
  expect(() => openDevice({ name: 'doca_dpu0' } as never, { api: 'comch' })).toThrow(/device must be a name or one of/);
  expect(() => openDevice({ name: 'doca_dpu0' } as never)).toThrow(/options\.name is not known here/);
  expect(() => new Client({ device: host, name: '' })).toThrow(/name must not be empty/);
  expect(() => new Client({ device: host, name: 'x', sendTasks: 0 })).toThrow(/options\.sendTasks must be/);
  expect(() => new Client({ device: host, name: 'x', tasks: 1 } as never)).toThrow(/tasks is not known/);
  for (const [option, most] of [
    ['maxMsgSize', 4080],
    ['recvQueueSize', 8192],
    ['sendTasks', 8192],
  ] as const) {
    const create = () => new Client({ device: host, name: 'x', [option]: 70_000 });
    expect(create).toThrow(`options.${option} 70000: the device's maximum is ${most}`);
  }
  const { connected } = await pairOf('signals');
  await expect(connected.receive({ signal: AbortSignal.timeout(20) })).rejects.toMatchObject({ name: 'TimeoutError' });
  expect(() => connected.trySend('x' as never)).toThrow(/message must be a Uint8Array/);
  const gone = new Uint8Array(8);
  structuredClone(gone.buffer, { transfer: [gone.buffer] });
  await expect(connected.send(gone)).rejects.toThrow('message is detached');
  expect(() => connected.trySend(new Uint8Array(5000))).toThrow(/INVALID_VALUE/);
  host.close();
});
