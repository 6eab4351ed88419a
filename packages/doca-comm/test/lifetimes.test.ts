import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Endpoint, openDevice, openRepresentor } from '../dist/index.js';
import { script } from './helpers/program.js';

test('endpoints that nobody closed are freed by garbage collection, and their peers hear of it', async () => {
  const program = script('abandon.mjs', []);
  expect([await program.ended, program.output()]).toEqual([0, '1 left, which is open\n']);
}, 60_000);

test('an endpoint that only its own waiting refers to is not collected while it waits', async () => {
  using dpu = openDevice('doca_dpu0');
  using rep = openRepresentor(dpu, '5f5f:3b:00.0');
  using service = new Endpoint({ device: dpu, deviceRep: rep });
  service.listen('waits');
  const received = (async () => {
    using host = openDevice('doca_host0');
    using client = new Endpoint({ device: host });
    await client.connectAsync('waits');
    await client.send(Buffer.from('hello'));
    const { data } = await client.receive();
    return Buffer.from(data).toString();
  })();
  const { peer } = await service.receive();
  for (let i = 0; i < 20; i++) {
    globalThis.gc?.();
    await sleep(5);
  }
  await service.send(Buffer.from('still there'), peer);
  expect(await received).toBe('still there');
});

test('clients in worker threads; what a thread leaves open ends with it', async () => {
  const program = script('workers.mjs', []);
  const lines = ['closes', 'returns', 'waits'].map((end) => `a worker that ${end}\n`);
  expect([await program.ended, program.output()]).toEqual([0, `${lines.join('')}3 lost\n`]);
}, 60_000);
