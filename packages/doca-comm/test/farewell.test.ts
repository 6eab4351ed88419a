// The orderly end loses nothing, and takes about a round trip, also if the peer's event loop stands still, and also on a
// link with losses.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import type { PeerAddr } from '../dist/index.js';
import { client, echo, fill, serve, text } from './helpers/devices.js';
import { script, type Program } from './helpers/program.js';

/**
 * Milliseconds. Without an orderly end, one side's farewell is retransmitted until its retries run out, more than a second.
 */
const USUAL = 20;
const ALWAYS = 500;

function timeOf(act: () => void): number {
  const start = performance.now();
  act();
  return performance.now() - start;
}

/** How long its own close took. */
async function closing(program: Program): Promise<number> {
  expect([await program.ended, program.output()]).toEqual([0, expect.stringMatching(/closed in \d+ ms/)]);
  return Number(/closed in (\d+) ms/.exec(program.output())?.[1]);
}

test('what a client has sent before it left is received before its end is told, also where a message to it failed', async () => {
  const name = 'last words';
  const service = serve(name);
  const flag = new Int32Array(new SharedArrayBuffer(8));
  const worker = new Worker(new URL('programs/last-words.mjs', import.meta.url), { workerData: { flag, name } });
  const ended = once(worker, 'exit');
  const { peer } = await service.receive();
  await fill(service, peer);
  Atomics.store(flag, 0, 1);
  Atomics.notify(flag, 0);
  // Nothing here makes progress until it has gone.
  expect(Atomics.wait(flag, 1, 0, 10_000)).not.toBe('timed-out');
  const received: string[] = [];
  const lost = once(service, 'lost');
  const serving = (async () => {
    for await (const { data } of service) received.push(text(data));
  })();
  await lost;
  expect(received).toEqual(Array.from({ length: 20 }, (_, i) => `message ${i}`));
  await ended;
  await service.closeAsync();
  await serving;
}, 20_000);

test('a client leaves a service that stands still', async () => {
  const service = script('stand-still.mjs', ['service', 'still']);
  await service.says('listening');
  const endpoint = client();
  const peer = endpoint.connect('still');
  await endpoint.send(Buffer.from('x'));
  await service.says('standing still');
  expect(endpoint.sendTo(Buffer.from('unread'), peer)).toBe(true);
  expect(
    timeOf(() => {
      endpoint.disconnect(peer);
    }),
  ).toBeLessThan(ALWAYS);
  expect(await closing(service)).toBeLessThan(ALWAYS);
}, 20_000);

test('a service disconnects a client that stands still', async () => {
  const service = serve('moving');
  const program = script('stand-still.mjs', ['client', 'moving']);
  const { peer } = await service.receive();
  await program.says('standing still');
  expect(
    timeOf(() => {
      service.disconnect(peer);
    }),
  ).toBeLessThan(ALWAYS);
  expect(await closing(program)).toBeLessThan(ALWAYS);
}, 20_000);

test.each(['', ',drop=0.02,seed=3'])('clients come and go%s', async (faults) => {
  const env = { VERBS_SOFT: `doca_dpu0,kind=doca,role=dpu${faults}` };
  const service = script('echo.mjs', [`come and go${faults}`], env);
  await service.says('listening');
  const endpoint = client();
  const times: number[] = [];
  for (let round = 0; round < 20; round++) {
    const peer: PeerAddr = endpoint.connect(`come and go${faults}`);
    await endpoint.send(Buffer.from(`round ${round}`));
    expect(text((await endpoint.receive()).data)).toBe(`round ${round}`);
    times.push(
      timeOf(() => {
        endpoint.disconnect(peer);
      }),
    );
  }
  service.child.kill();
  await service.ended;
  times.sort((a, b) => a - b);
  expect(times[10]).toBeLessThan(USUAL);
  expect(times.at(-1)).toBeLessThan(ALWAYS);
});

test('both ends in one thread: each leaves while the other cannot run', async () => {
  const service = serve('alone');
  void echo(service);
  const endpoint = client();
  for (let round = 0; round < 5; round++) {
    const peer = endpoint.connect('alone');
    await endpoint.send(Buffer.from('x'));
    await endpoint.receive();
    expect(
      timeOf(() => {
        if (round === 4) service.close();
        endpoint.disconnect(peer);
      }),
    ).toBeLessThan(ALWAYS);
  }
});
