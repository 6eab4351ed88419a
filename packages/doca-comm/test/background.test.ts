// The forms of connect, disconnect and close that do not block the event loop, against processes that are stopped.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { Endpoint, openDevice, type PeerAddr } from '../dist/index.js';
import { client, echo, overComch, serve, text } from './helpers/devices.js';
import { script, type Program } from './helpers/program.js';

/** A service of another process; it is stopped by SIGSTOP, and killed at the end of the test. */
async function stoppable(name: string): Promise<Program> {
  const service = script('echo.mjs', [name]);
  onTestFinished(async () => {
    service.child.kill('SIGKILL');
    await service.ended;
  });
  await service.says('listening');
  return service;
}

/** Resolves when the process stands still. */
async function stop({ child }: Program): Promise<void> {
  child.kill('SIGSTOP');
  const state = () => /\) (\w)/.exec(readFileSync(`/proc/${child.pid ?? 0}/stat`, 'utf8'))?.[1];
  while (state() !== 'T') await sleep(1);
}

/** The longest time in which the event loop stood still while the promise was pending. Milliseconds. */
async function stillness(act: () => Promise<unknown>): Promise<number> {
  let worst = 0;
  let last = performance.now();
  const look = () => {
    worst = Math.max(worst, performance.now() - last);
    last = performance.now();
  };
  const timer = setInterval(look, 5);
  await act().catch(() => undefined);
  look();
  clearInterval(timer);
  return worst;
}

/** What the calls of C take for a stopped process is more than a second. */
const STILL = 500;

test('connectAsync, messages, disconnectAsync, closeAsync', async () => {
  const service = serve('background');
  void echo(service);
  const device = openDevice('doca_host0');
  {
    await using endpoint = new Endpoint({ device });
    for (let round = 0; round < 3; round++) {
      const peer = await endpoint.connectAsync('background');
      await endpoint.send(Buffer.from(`round ${round}`));
      expect(text((await endpoint.receive()).data)).toBe(`round ${round}`);
      const ended = expect(endpoint.receive()).rejects.toMatchObject({ code: 'DOCA_ERROR_NOT_CONNECTED' });
      const gone = endpoint.disconnectAsync(peer);
      expect(peer.connected).toBe(false);
      await expect(endpoint.disconnectAsync(peer)).rejects.toMatchObject({ code: 'DOCA_ERROR_NOT_CONNECTED' });
      await gone;
      await ended;
    }
    await expect(endpoint.connectAsync('nobody')).rejects.toThrow(/no service named nobody is listening/);
    await expect(endpoint.connectAsync(5 as never)).rejects.toThrow(/name must be a string/);
    await endpoint.connectAsync('background');
  }
  device.close(); // nothing uses it any more
});

test('connectAsync to a stopped service does not block the event loop, and a signal ends it at once', async () => {
  const service = await stoppable('stopped');
  const endpoint = client();
  await stop(service);
  expect(
    await stillness(async () => {
      await expect(endpoint.connectAsync('stopped')).rejects.toMatchObject({ code: 'DOCA_ERROR_CONNECTION_ABORTED' });
    }),
  ).toBeLessThan(STILL);

  const start = performance.now();
  const given = endpoint.connectAsync('stopped', { signal: AbortSignal.timeout(50) });
  expect(() => endpoint.connect('stopped')).toThrow(/CONNECTION_INPROGRESS.*wait until connectAsync/);
  expect(() => endpoint.recvFrom()).toThrow(/CONNECTION_INPROGRESS/);
  await expect(given).rejects.toMatchObject({ name: 'TimeoutError' });
  expect(performance.now() - start).toBeLessThan(STILL);
  // The next one waits until the call that was given up has returned, and connects.
  service.child.kill('SIGCONT');
  await endpoint.connectAsync('stopped');
  await endpoint.send(Buffer.from('x'));
  expect(text((await endpoint.receive()).data)).toBe('x');
}, 20_000);

test('a connection that was given up is undone', async () => {
  const service = serve('undone');
  const endpoint = client();
  const controller = new AbortController();
  const given = endpoint.connectAsync('undone', { signal: controller.signal });
  controller.abort(new Error('enough'));
  await expect(given).rejects.toThrow('enough');
  while (service.update()?.pendingConnections !== 0) await sleep(5);
  const peer = await endpoint.connectAsync('undone');
  // Over Comch it had been accepted: the service hears that it is gone.
  if (overComch) {
    const lost = await service.receive().catch((error: unknown) => (error as { peer: PeerAddr }).peer);
    service.disconnect(lost as PeerAddr);
  }
  expect(service.recvFrom()).toBeUndefined();
  await peer.established();
  expect(service.update()?.peers).toHaveLength(1);
});

test('close during connectAsync rejects it, and frees the endpoint when the call has returned', async () => {
  const service = await stoppable('closing');
  await stop(service);
  for (const way of ['close', 'closeAsync'] as const) {
    const device = openDevice('doca_host0');
    const endpoint = new Endpoint({ device });
    const connecting = endpoint.connectAsync('closing');
    await sleep(20);
    const start = performance.now();
    let closed: Promise<void> | undefined;
    if (way === 'close') endpoint.close();
    else closed = endpoint.closeAsync();
    await expect(connecting).rejects.toMatchObject({ code: 'DOCA_ERROR_NOT_CONNECTED' });
    expect(performance.now() - start).toBeLessThan(STILL);
    await closed;
    // The device cannot be closed before.
    for (let closable = false; !closable;) {
      await sleep(20);
      try {
        device.close();
        closable = true;
      } catch (error) {
        expect(error).toMatchObject({ code: 'DOCA_ERROR_IN_USE' });
        expect(way).toBe('close');
      }
    }
    await endpoint.closeAsync();
  }
}, 20_000);

test('disconnectAsync and closeAsync with a stopped peer do not block the event loop', async () => {
  const endpoint = client();
  const service = await stoppable('frozen');
  const peer = await endpoint.connectAsync('frozen');
  await endpoint.send(Buffer.from('x'));
  await endpoint.receive();
  await stop(service);
  expect(await stillness(() => endpoint.disconnectAsync(peer))).toBeLessThan(STILL);
  service.child.kill('SIGCONT');
  await endpoint.connectAsync('frozen');
  await endpoint.send(Buffer.from('x'));
  await endpoint.receive();
  await stop(service);
  expect(
    await stillness(async () => {
      const first = endpoint.closeAsync();
      expect(endpoint.closeAsync()).toBe(first);
      await first;
    }),
  ).toBeLessThan(STILL);
}, 20_000);

test('a service serves its clients while it disconnects one that is stopped', async () => {
  const service = serve('serving');
  void echo(service);
  const program = script('talker.mjs', ['serving']);
  await program.says('talking');
  const [stopped] = service.peers;
  if (stopped === undefined) throw new Error('there is no peer');
  const other = client();
  await other.connectAsync('serving');
  await stop(program);
  const gone = service.disconnectAsync(stopped);
  let rounds = 0;
  const over = new AbortController();
  void gone.finally(() => {
    over.abort();
  });
  while (!over.signal.aborted) {
    await other.send(Buffer.from('x'));
    expect(text((await other.receive()).data)).toBe('x');
    rounds++;
    await sleep(1);
  }
  await gone;
  // doca_comch_server_disconnect does not wait for the peer.
  expect(rounds).toBeGreaterThan(overComch ? 0 : 20);
  expect(service.peers).toHaveLength(1);
  program.child.kill('SIGKILL');
  await program.ended;
}, 20_000);

test("messages that wait when their sender is disconnected are nobody's", async () => {
  const service = serve('late');
  const sender = client();
  await sender.connectAsync('late');
  const first = service.receive(); // the handshake ends while it waits
  await sender.send(Buffer.from('first'));
  const { peer } = await first;
  for (let i = 0; i < 4; i++) await sender.send(Buffer.from('late'));
  const gone = service.disconnectAsync(peer);
  expect(service.recvFrom()).toBeUndefined();
  expect(service.peers).toEqual([]);
  await gone;
  expect(service.recvFrom()).toBeUndefined();
  expect(service.peers).toEqual([]);
});

test('recvFrom returns at once while the only peer is disconnected in the background', async () => {
  void echo(serve('asked meanwhile'));
  const endpoint = client();
  const peer = await endpoint.connectAsync('asked meanwhile');
  await endpoint.send(Buffer.from('x'));
  expect(text((await endpoint.receive()).data)).toBe('x');
  const gone = endpoint.disconnectAsync(peer);
  try {
    expect(endpoint.recvFrom()).toBeUndefined();
  } catch (error) {
    expect(error).toMatchObject({ code: 'DOCA_ERROR_NOT_CONNECTED' });
  }
  await gone;
});

test('a worker that is terminated in the middle of a call ends when the call has returned', async () => {
  const service = await stoppable('terminating');
  await stop(service);
  const worker = new Worker(
    `const { Endpoint, openDevice } = require(process.argv[2]);
     new Endpoint({ device: openDevice('doca_host0') }).connectAsync('terminating').catch(() => undefined);
     require('node:worker_threads').parentPort.postMessage('called');`,
    { eval: true, argv: [fileURLToPath(new URL('../dist/index.cjs', import.meta.url))] },
  );
  await once(worker, 'message');
  expect(await worker.terminate()).toBe(1);
});
