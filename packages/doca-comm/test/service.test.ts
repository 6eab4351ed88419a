// What a service knows of its clients, what a device tells, and how waiting ends.
import { getEventListeners } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { Endpoint, listDevices, listRepresentors, openDevice, type PeerAddr } from '../dist/index.js';
import { client, fill, overComch, serve, text } from './helpers/devices.js';

test('a listener for new peers may receive: the message before is not changed by that', async () => {
  const service = serve('listener');
  const endpoint = client();
  const peer = endpoint.connect('listener');
  expect(service.recvFrom()).toBeUndefined();
  await peer.established();
  await endpoint.send(Buffer.from('first'));
  await endpoint.send(Buffer.from('other'));
  await endpoint.drained(); // the listener does not wait
  const received: string[] = [];
  service.on('peer', () => {
    const next = service.recvFrom();
    if (next !== undefined) received.push(text(next.data));
  });
  expect(text((await service.receive()).data)).toBe('first');
  expect(received).toEqual(['other']);
});

test('a listener that throws costs no message: its error is an uncaught exception', async () => {
  const errors: Error[] = [];
  process.setUncaughtExceptionCaptureCallback((error) => errors.push(error));
  onTestFinished(() => {
    process.setUncaughtExceptionCaptureCallback(null);
  });
  const service = serve('throws');
  for (const event of ['peer', 'lost'] as const) {
    service.on(event, () => {
      throw new Error(`of ${event}`);
    });
  }
  const endpoint = client();
  const connecting = endpoint.connectAsync('throws');
  const first = service.receive();
  await connecting;
  await endpoint.send(Buffer.from('first'));
  const { peer, data } = await first;
  expect(text(data)).toBe('first');
  await endpoint.closeAsync();
  await expect(service.receive()).rejects.toMatchObject({ code: 'DOCA_ERROR_CONNECTION_RESET', peer });
  expect(errors.map(({ message }) => message)).toEqual(['of peer', 'of lost']);
});

test('waits with one signal share a listener, of more than ten Node.js warns', async () => {
  const service = serve('share');
  const { signal } = new AbortController();
  const waits = Array.from({ length: 12 }, () => service.receive({ signal }));
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  service.close();
  for (const wait of waits) await expect(wait).rejects.toMatchObject({ code: 'DOCA_ERROR_NOT_CONNECTED' });
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('peer is emitted once for each client, with the address that its messages come from', async () => {
  const service = serve('events');
  const seen: PeerAddr[] = [];
  service.on('peer', (peer) => seen.push(peer));
  const endpoints = [client(), client(), client()];
  for (const [i, endpoint] of endpoints.entries()) {
    endpoint.connect('events');
    for (let n = 0; n < 2; n++) {
      void endpoint.send(Buffer.from(`from ${i}`));
      const { peer, data } = await service.receive();
      expect(text(data)).toBe(`from ${i}`);
      expect(peer).toBe(seen[i]);
    }
  }
  expect(seen).toHaveLength(3);
  expect(service.peers).toEqual(seen);
});

test('devices, representors and capabilities', () => {
  const [host, dpu] = listDevices();
  expect(host).toMatchObject({ library: 'soft', pciAddr: '5f5f:3b:00.0', hasRepresentors: false });
  expect(dpu).toMatchObject({ library: 'soft', pciAddr: '5f5f:03:00.0', hasRepresentors: true });
  const limits = { maxServiceNameLen: 120, maxMessageSize: 4080, maxSendQueueSize: 8192, maxRecvQueueSize: 8192 };
  for (const name of ['5f5f:03:00.0', '5F5F:03:00.0', 'doca_dpu0']) {
    using device = openDevice(name);
    expect(device.capabilities()).toEqual({ ...limits, maxConnections: 512 });
    expect(listRepresentors(device).map(({ pciAddr }) => pciAddr)).toEqual(['5f5f:3b:00.0']);
  }
  using device = openDevice('doca_host0');
  expect(device.capabilities()).toEqual({ ...limits, maxConnections: undefined });
  expect(() => listRepresentors(device)).toThrow(/NOT_SUPPORTED.*only a DPU/);
});

test("a card's address never opens the model, and the error says what DOCA is there", () => {
  for (const address of ['0000:03:00.0', '03:00.0', '0000:3b:00.0']) {
    expect(() => openDevice(address)).toThrow(
      /NOT_FOUND.*there is no device .*; there are: 5f5f:3b:00\.0 \(doca_host0\).*; hardware: .*install DOCA 1\.5 or later/,
    );
  }
});

test('a device and a representor stay open while an endpoint uses them', () => {
  const service = serve('holds');
  expect(() => service.device?.close()).toThrow(/IN_USE.*close what uses it first/);
  expect(() => service.deviceRep?.close()).toThrow(/IN_USE/);
});

test('an endpoint whose properties are refused holds no device', () => {
  const device = openDevice('doca_host0');
  expect(() => new Endpoint({ device, maxMsgSize: 65_535 })).toThrow(/INVALID_VALUE.*maxMsgSize 65535/);
  device.close();
});

test('a signal ends the waiting for the handshake, for room, and for acknowledgements', async () => {
  const service = serve('slow');
  const endpoint = client();
  const peer = endpoint.connect('slow');
  const soon = () => ({ signal: AbortSignal.timeout(20) });
  if (!overComch) {
    await expect(peer.established(soon())).rejects.toMatchObject({ name: 'TimeoutError' });
    await expect(endpoint.send(Buffer.from('x'), peer, soon())).rejects.toMatchObject({ name: 'TimeoutError' });
  }
  service.recvFrom();
  await peer.established();
  await fill(endpoint, peer);
  await expect(endpoint.send(Buffer.from('x'), peer, soon())).rejects.toMatchObject({ name: 'TimeoutError' });
  const aborted = { signal: AbortSignal.abort(new Error('before')) };
  await expect(endpoint.send(Buffer.from('x'), peer, aborted)).rejects.toThrow('before');
  await expect(endpoint.receive(aborted)).rejects.toThrow('before');
  await expect(endpoint.drained(peer, aborted)).rejects.toThrow('before');
  // What was given up was not sent.
  let received = 0;
  await sleep(50);
  while (service.recvFrom() !== undefined) received++;
  expect(received).toBeGreaterThanOrEqual(64);
  expect(received).toBeLessThanOrEqual(overComch ? 128 : 64);
  await endpoint.drained();
});

test('messages of 0 to 4080 bytes arrive as they are; a property that was raised holds', async () => {
  const service = serve('sizes of messages', { maxMsgSize: 100 });
  const endpoint = client();
  const peer = endpoint.connect('sizes of messages');
  for (const size of [0, 1, 64, 99, 100]) {
    void endpoint.send(Buffer.alloc(size, size));
    expect(Buffer.compare((await service.receive()).data, Buffer.alloc(size, size))).toBe(0);
  }
  // The service takes 100, so that is the connection's.
  // Comch knows that when the task completes, and the service's library is the one to say so.
  if (!overComch) expect(() => endpoint.sendTo(Buffer.alloc(101), peer)).toThrow(/INVALID_VALUE.*101 bytes/);
  const own = new Uint8Array(200);
  void endpoint.send(Buffer.from('into a buffer'));
  let found = service.recvFrom(own);
  while (found === undefined) found = service.recvFrom(own);
  expect(found.data.buffer).toBe(own.buffer);
  expect(text(found.data)).toBe('into a buffer');
});

test('a client that disconnects while it receives waits for nothing any more', async () => {
  serve('left');
  const endpoint = client();
  const peer = endpoint.connect('left');
  const iterating = (async () => {
    for await (const { data } of endpoint) expect(data).toBeUndefined();
  })();
  const receiving = endpoint.receive();
  endpoint.disconnect(peer);
  await expect(receiving).rejects.toMatchObject({ code: 'DOCA_ERROR_NOT_CONNECTED' });
  await iterating;
  const unconnected = endpoint[Symbol.asyncIterator]().next();
  await expect(unconnected).rejects.toMatchObject({ code: 'DOCA_ERROR_NOT_CONNECTED' });
  endpoint.connect('left');
});

test('a message to a client that receives again is sent, however much another client has sent meanwhile', async () => {
  const service = serve('flooded');
  const [silent, loud] = [client(), client()];
  const message = Buffer.alloc(4000);
  const count = 700;
  const peers: PeerAddr[] = [];
  for (const endpoint of [silent, loud]) {
    await endpoint.connectAsync('flooded');
    // The service accepts while it receives.
    const [{ peer }] = await Promise.all([service.receive(), endpoint.send(Buffer.from('hello'))]);
    peers.push(peer);
  }
  const [toSilent] = peers;
  if (toSilent === undefined) throw new Error('there is no peer');
  const full = await fill(service, toSilent);
  const last = service.send(Buffer.from('last'), toSilent);
  let sent = 0;
  const flooding = (async () => {
    for (; sent < count; sent++) await loud.send(message);
  })();
  for (let before = -1; before !== sent;) {
    before = sent;
    await sleep(50);
  }
  const received = (async () => {
    for (let i = 0; i < full; i++) expect(text((await silent.receive()).data)).toBe('x');
    expect(text((await silent.receive()).data)).toBe('last');
  })();
  await last;
  await received;
  for (let i = 0; i < count; i++) expect((await service.receive()).data.length).toBe(message.length);
  await flooding;
}, 20_000);

test('a registry that others can access: the error of listen says which directory it is', () => {
  const runtime = mkdtempSync(join(tmpdir(), 'verbs-runtime-'));
  const before = process.env['XDG_RUNTIME_DIR'];
  onTestFinished(() => {
    if (before === undefined) delete process.env['XDG_RUNTIME_DIR'];
    else process.env['XDG_RUNTIME_DIR'] = before;
    rmSync(runtime, { recursive: true });
  });
  process.env['XDG_RUNTIME_DIR'] = runtime;
  const directory = join(runtime, 'verbs-doca-comm');
  mkdirSync(directory);
  chmodSync(directory, 0o755);
  expect(() => serve('open')).toThrow(`${directory} can be accessed by others (mode 0755); "chmod 700" it`);
  chmodSync(directory, 0o700);
  serve('open');
  expect(() => serve('open')).toThrow(/another one on this representor has that name/);
});
