import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { DocaError, Endpoint, openDevice, openRepresentor, type PeerAddr, setFaults } from '../dist/index.js';
import { client, echo, fill, overComch, serve, text } from './helpers/devices.js';

function codeOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    expect(error).toBeInstanceOf(DocaError);
    return (error as DocaError).code;
  }
  return 'no error';
}

test('request and reply, with for await and send', async () => {
  const service = serve('echo');
  void echo(service);
  const endpoint = client();
  const peer = endpoint.connect('echo');
  await endpoint.send(Buffer.from('request'));
  const reply = await endpoint.receive();
  expect(text(reply.data)).toBe('request');
  expect(reply.peer).toBe(peer);
  expect(peer.stats()).toMatchObject({ sendMessages: 1n, sendBytes: 7n, recvMessages: 1n, recvBytes: 7n });
});

test('properties are minima: queues become powers of two, and are fixed once the endpoint is active', () => {
  const service = serve('sizes', { sendQueueSize: 10, recvQueueSize: 65, maxMsgSize: 1 });
  expect([service.sendQueueSize, service.recvQueueSize, service.maxMsgSize]).toEqual([16, 128, 64]);
  expect(codeOf(() => (service.maxMsgSize = 100))).toBe('DOCA_ERROR_BAD_STATE');
  expect(() => (service.sendQueueSize = 1.5)).toThrow(RangeError);
});

test('connect before listen, a second service of the name, the wrong role', () => {
  const endpoint = client();
  expect(codeOf(() => endpoint.connect('early'))).toBe('DOCA_ERROR_CONNECTION_ABORTED');
  expect(() => endpoint.connect('early')).toThrow(/no service named early is listening on the DPU.*start it first/);
  expect(() => endpoint.connect('long'.repeat(30))).toThrow(/name has 120 bytes; 119 is the maximum/);
  expect(() => serve('é'.repeat(60))).toThrow(/name has 120 bytes; 119 is the maximum/);
  const service = serve('early');
  expect(codeOf(() => serve('early'))).toBe('DOCA_ERROR_CONNECTION_ABORTED');
  expect(codeOf(() => service.connect('early'))).toBe('DOCA_ERROR_NOT_PERMITTED');
  expect(
    codeOf(() => {
      endpoint.listen('x');
    }),
  ).toBe('DOCA_ERROR_NOT_SUPPORTED');
  expect(codeOf(() => new Endpoint().connect('early'))).toBe('DOCA_ERROR_BAD_STATE');
});

test('a full queue is false, an empty one undefined; both are no exceptions', async () => {
  const service = serve('full');
  const endpoint = client();
  const peer = endpoint.connect('full');
  expect(service.recvFrom()).toBeUndefined();
  await peer.established();
  let sent = 0;
  while (endpoint.sendTo(Buffer.from([sent]), peer)) sent++;
  // Over Comch a message is in flight until the peer's library has it, whose receive queue is as long again.
  expect(sent).toBeGreaterThanOrEqual(64);
  expect(sent).toBeLessThanOrEqual(overComch ? 128 : 64);
  for (let i = 0; i < sent; i++) expect((await service.receive()).data[0]).toBe(i);
  await endpoint.drained();
  expect(peer.counters().sendInFlightMessages).toBe(0n);
});

test('send waits for room, in order, and a full peer delays no other', async () => {
  const service = serve('room', { sendQueueSize: 8 });
  const [slow, quick] = [client({ recvQueueSize: 8 }), client()];
  const peers: PeerAddr[] = [];
  for (const endpoint of [slow, quick]) {
    endpoint.connect('room');
    const accepted = service.receive();
    await endpoint.send(Buffer.from('hi'));
    peers.push((await accepted).peer);
  }
  const sends = Array.from({ length: 40 }, (_, i) => service.send(Buffer.from([i]), peers[0]));
  await service.send(Buffer.from('not held up'), peers[1]);
  expect(text((await quick.receive()).data)).toBe('not held up');
  for (let i = 0; i < 40; i++) expect((await slow.receive()).data[0]).toBe(i);
  await Promise.all(sends);
});

test('user data: any value, and the 64 bits of C', async () => {
  const service = serve('data');
  const endpoint = client();
  endpoint.connect('data');
  void endpoint.send(Buffer.from('x'));
  const { peer } = await service.receive();
  expect(peer.userData).toBeUndefined();
  expect(peer.userData64).toBe(0n);
  peer.userData = { name: 'first' };
  peer.userData64 = 2n ** 64n - 1n;
  expect(peer.userData64).toBe(2n ** 64n - 1n);
  expect(() => (peer.userData64 = -1n)).toThrow(RangeError);
  void endpoint.send(Buffer.from('y'));
  expect((await service.receive()).peer).toBe(peer);
});

test('a client that goes: the service emits lost, goes on, and the client connects again', async () => {
  const service = serve('again');
  void echo(service);
  const lost: PeerAddr[] = [];
  service.on('lost', (peer) => lost.push(peer));
  const endpoint = client();
  for (let round = 0; round < 3; round++) {
    const peer = endpoint.connect('again');
    await endpoint.send(Buffer.from(`round ${round}`));
    expect(text((await endpoint.receive()).data)).toBe(`round ${round}`);
    await endpoint.drained();
    endpoint.disconnect(peer);
    expect(codeOf(() => endpoint.sendTo(Buffer.from('x'), peer))).toBe('DOCA_ERROR_NOT_CONNECTED');
    expect(codeOf(() => peer.updateInfo())).toBe('DOCA_ERROR_NOT_CONNECTED');
  }
  while (lost.length < 3) await sleep(10);
  expect(service.peers).toEqual([]);
});

test("a client that goes while the service calls receive() or recvFrom(): 'lost' comes once, before the error", async () => {
  const service = serve('told');
  const lost: PeerAddr[] = [];
  service.on('lost', (peer) => lost.push(peer));
  const arrive = async () => {
    const endpoint = client();
    const peer = endpoint.connect('told');
    void endpoint.send(Buffer.from('x'));
    const received = await service.receive();
    await endpoint.drained();
    endpoint.disconnect(peer);
    return received.peer;
  };

  const first = await arrive();
  await expect(service.receive()).rejects.toMatchObject({ code: 'DOCA_ERROR_CONNECTION_RESET', peer: first });
  expect(lost).toEqual([first]);
  service.disconnect(first);

  const second = await arrive();
  while (codeOf(() => service.recvFrom()) === 'no error') await sleep(1);
  expect(lost).toEqual([first, second]);
  service.disconnect(second);
  expect(service.peers).toEqual([]);
});

test('a service that closes: the client gets CONNECTION_RESET for receive and send', async () => {
  const device = openDevice('doca_dpu0');
  const deviceRep = openRepresentor(device, '5f5f:3b:00.0');
  const service = new Endpoint({ device, deviceRep });
  service.listen('short');
  const endpoint = client();
  const peer = endpoint.connect('short');
  void endpoint.send(Buffer.from('x'));
  await service.receive();
  service.close();
  deviceRep.close();
  device.close();
  await expect(endpoint.receive()).rejects.toMatchObject({ code: 'DOCA_ERROR_CONNECTION_RESET', peer });
  expect(codeOf(() => endpoint.sendTo(Buffer.from('x'), peer))).toBe('DOCA_ERROR_CONNECTION_RESET');
  expect(peer.updateInfo()).toBe('aborted');
});

test('signals and close end what waits', async () => {
  const service = serve('waits');
  const reason = new Error('enough');
  const controller = new AbortController();
  const waiting = service.receive({ signal: controller.signal });
  controller.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  const second = service.receive();
  service.close();
  await expect(second).rejects.toMatchObject({ code: 'DOCA_ERROR_NOT_CONNECTED' });
  expect(() => {
    service.listen('x');
  }).toThrow(/closed/);
});

test('the state of a service', async () => {
  const service = serve('state');
  const endpoint = client();
  const peer = endpoint.connect('state');
  if (!overComch) {
    expect(peer.updateInfo()).toBe('in-progress');
    expect(service.update()).toEqual({ peers: [], pendingConnections: 1 });
  }
  expect(service.recvFrom()).toBeUndefined();
  await peer.established();
  const state = service.update();
  expect(state).toMatchObject({ pendingConnections: 0 });
  expect(state?.peers).toHaveLength(1);
  expect(codeOf(() => endpoint.update())).toBe('DOCA_ERROR_NOT_SUPPORTED');
});

test('wrong arguments are found before any call, by their names', async () => {
  const service = serve('arguments');
  const endpoint = client();
  const peer = endpoint.connect('arguments');
  expect(() => endpoint.sendTo('text' as never, peer)).toThrow(/message must be a Uint8Array/);
  expect(() => endpoint.sendTo(Buffer.alloc(1), {} as never)).toThrow(/peer must be a PeerAddr/);
  expect(() => endpoint.recvFrom(new Uint8Array(10))).toThrow(/at least 4080 bytes/);
  expect(() => {
    service.listen(7 as never);
  }).toThrow(TypeError);
  expect(() => new Endpoint({ maxMsgsize: 1 } as never)).toThrow(/maxMsgsize is not known/);
  expect(service.recvFrom()).toBeUndefined();
  await peer.established();
  expect(() => endpoint.sendTo(Buffer.alloc(4081), peer)).toThrow(/4081 bytes; the maximum is 4080/);
});

test('failures on purpose have the documented codes', () => {
  const endpoint = client();
  serve('faulty');
  for (const [plan, code] of [
    ['query_device:1', 'DOCA_ERROR_DRIVER'],
    ['create_queue:1:ENOMEM', 'DOCA_ERROR_NO_MEMORY'],
    ['modify_queue:1', 'DOCA_ERROR_INITIALIZATION'],
  ] as const) {
    setFaults(plan);
    // The state of a client of Comch tells no reason.
    const codes = overComch ? ['DOCA_ERROR_CONNECTION_ABORTED', code] : [code];
    expect(codes).toContain(codeOf(() => endpoint.connect('faulty')));
  }
  setFaults(null);
  expect(() => {
    setFaults('nonsense');
  }).toThrow(TypeError);
  endpoint.connect('faulty');
});

test('messages sent before and after the end of the handshake keep their order', async () => {
  const service = serve('patient');
  const endpoint = client();
  const peer = endpoint.connect('patient');
  const sends = [endpoint.send(Buffer.from('first'))];
  await sleep(60); // the first one polls for the handshake's end
  sends.push(endpoint.send(Buffer.from('second')));
  if (!overComch) service.recvFrom();
  while (peer.updateInfo() !== 'established');
  sends.push(endpoint.send(Buffer.from('third')));
  for (const expected of ['first', 'second', 'third']) expect(text((await service.receive()).data)).toBe(expected);
  await Promise.all(sends);
});

// Comch has no pending clients: the service's device takes each by itself, so that no handshake waits to be refused.
test.skipIf(overComch)('messages that wait end with the handshake that fails, and the signal', async () => {
  const service = serve('refusing');
  const endpoint = client();
  const peer = endpoint.connect('refusing');
  const controller = new AbortController();
  const given = endpoint.send(Buffer.from('given up'), peer, { signal: controller.signal });
  const sends = Array.from({ length: 3 }, () => endpoint.send(Buffer.from('waits')));
  controller.abort(new Error('enough'));
  await expect(given).rejects.toThrow('enough');
  service.close();
  for (const send of sends) await expect(send).rejects.toMatchObject({ code: 'DOCA_ERROR_CONNECTION_ABORTED' });
  endpoint.disconnect(peer);
});

test('messages that wait end with the disconnect', async () => {
  const next = serve('full of it');
  const endpoint = client();
  const peer = endpoint.connect('full of it');
  expect(next.recvFrom()).toBeUndefined();
  await peer.established();
  await fill(endpoint, peer);
  const more = Array.from({ length: 5 }, () => endpoint.send(Buffer.from('waits')));
  await sleep(10);
  endpoint.disconnect(peer);
  for (const send of more) await expect(send).rejects.toMatchObject({ code: 'DOCA_ERROR_NOT_CONNECTED' });
});

test('sending and receiving without a pause yields to the event loop', async () => {
  const service = serve('busy');
  const endpoint = client();
  endpoint.connect('busy');
  void endpoint.send(Buffer.from('x'));
  await service.receive();
  let turns = 0;
  // All that are there: where each came after its look, the queue would be full of what is left at last.
  const takeAll = () => {
    while (service.recvFrom() !== undefined);
  };
  const others = setInterval(() => {
    turns++;
    // On a busy machine all that the queue holds may be on its way, and a send waits for one of them to be taken.
    takeAll();
  }, 0);
  for (let n = 0; n < 20_000; n++) {
    await endpoint.send(Buffer.from('x'));
    takeAll();
  }
  expect(turns).toBeGreaterThan(10);
  clearInterval(others);
});

test('replies that nobody awaits do not starve the event loop', async () => {
  const service = serve('unawaited');
  const endpoint = client();
  const there = endpoint.connect('unawaited');
  const accepted = service.receive();
  await endpoint.send(Buffer.from('x'));
  const { peer } = await accepted;
  const sends: Promise<void>[] = [];
  let replies = 0;
  let turns = 0;
  const others = setInterval(() => turns++, 0);
  // A message is there whenever the service wants one, so that it never waits.
  for (let n = 0; n < 20_000; n++) {
    while (!endpoint.sendTo(Buffer.from('x'), there)) await setImmediate();
    await service.receive();
    sends.push(service.send(Buffer.from('x'), peer));
    while (endpoint.recvFrom() !== undefined) replies++;
  }
  clearInterval(others);
  expect(turns).toBeGreaterThan(10);
  // Those that still wait for room would be refused when the endpoints close.
  for (; replies < sends.length; replies++) await endpoint.receive();
  await Promise.all(sends);
});
