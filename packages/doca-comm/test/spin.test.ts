// A wait makes attempts for a while before it sleeps. The messages are the same however it waits, and a wait that ends
// while it spins leaves nothing behind.
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Endpoint } from '../dist/index.js';
import { client, echo, serve, text } from './helpers/devices.js';

/** Microseconds: longer than the test takes. */
const LONG = 10_000;

test.each([0, LONG])('request and reply where waits spin for up to %i microseconds', async (spin) => {
  void echo(serve(`spin ${spin}`, { spin }));
  const endpoint = client({ spin });
  endpoint.connect(`spin ${spin}`);
  for (let i = 0; i < 100; i++) {
    await endpoint.send(Buffer.from(`request ${i}`));
    expect(text((await endpoint.receive()).data)).toBe(`request ${i}`);
  }
});

test('many receives that spin together get their messages in order', async () => {
  const service = serve('together', { spin: LONG });
  const endpoint = client({ spin: LONG });
  endpoint.connect('together');
  const received = Array.from({ length: 20 }, () => service.receive());
  for (let i = 0; i < 20; i++) await endpoint.send(Buffer.from([i]));
  expect((await Promise.all(received)).map(({ data }) => data[0])).toEqual(Array.from({ length: 20 }, (_, i) => i));
});

test('more receives than attempts of a turn, and others that begin before the last one ends', async () => {
  const service = serve('many', { spin: LONG });
  const endpoint = client({ spin: LONG });
  endpoint.connect('many');
  const numbers: number[] = [];
  const loop = async () => {
    while (numbers.length < 300) numbers.push((await service.receive()).data[0] ?? NaN);
  };
  const loops = Array.from({ length: 20 }, loop);
  for (let i = 0; i < 320; i++) await endpoint.send(Buffer.from([i % 100]));
  await Promise.all(loops);
  expect(numbers).toEqual(numbers.map((_, i) => i % 100));
});

test('a receive that is given up while it spins takes no message from the next one', async () => {
  const service = serve('given up', { spin: LONG });
  const endpoint = client({ spin: LONG });
  endpoint.connect('given up');
  const giveUp = new AbortController();
  const first = service.receive({ signal: giveUp.signal });
  giveUp.abort(new Error('enough'));
  const second = service.receive();
  await expect(first).rejects.toThrow('enough');
  await endpoint.send(Buffer.from('for the second'));
  expect(text((await second).data)).toBe('for the second');
});

test('an endpoint closes while its receives spin', async () => {
  const service = serve('closing', { spin: LONG });
  const received = [service.receive(), service.receive()];
  await turn();
  service.close();
  for (const each of received) await expect(each).rejects.toMatchObject({ code: 'DOCA_ERROR_NOT_CONNECTED' });
  // What was scheduled runs, and finds nothing.
  await turn();
  await turn();
});

test('waits that spun in vain sleep, and messages wake them', async () => {
  const service = serve('late', { spin: 1 });
  const endpoint = client({ spin: 1 });
  endpoint.connect('late');
  for (let i = 0; i < 5; i++) {
    const message = service.receive();
    await sleep(10); // much longer than it spins
    await endpoint.send(Buffer.from([i]));
    expect((await message).data[0]).toBe(i);
  }
});

test('spin is a number of microseconds', () => {
  expect(() => new Endpoint({ spin: 10_001 })).toThrow(/options\.spin must be .*10000.*10001/);
  expect(() => new Endpoint({ spin: '50' as unknown as number })).toThrow(/options\.spin must be .*'50'/);
});
