import { describe, expect, test } from 'vitest';
import { openDevice } from '../dist/index.js';
import { client, text } from './helpers/devices.js';
import { long, MINUTE, show } from './helpers/long.js';
import { script } from './helpers/program.js';

async function stream(count: number, faults: string): Promise<void> {
  const env = { VERBS_SOFT: `doca_host0,kind=doca,role=host${faults};doca_dpu0,kind=doca,role=dpu${faults}` };
  const service = script('stream.mjs', ['service', `stream${faults}`, String(count)], env);
  await service.says('listening');
  const other = script('stream.mjs', ['client', `stream${faults}`, String(count)], env);
  if (long)
    other.child.stdout?.on('data', (said: string) => {
      show(`${faults || 'no faults'}: ${said.trim()}`);
    });
  expect([await other.ended, other.output()]).toEqual([0, expect.stringMatching(/^done in/m)]);
  expect([await service.ended, service.output()]).toEqual([0, expect.stringContaining(`done, ${count} received`)]);
}

describe('messages of 1 to 4080 bytes in both directions at once, every byte compared, in order', () => {
  const count = long ? 1_000_000 : 20_000;
  test(`${count} messages`, () => stream(count, ''), 20 * MINUTE);
  const lossy = long ? 1_000_000 : 2_000;
  test(`${lossy} messages with 2 % of all packets lost`, () => stream(lossy, ',drop=0.02,seed=7'), 60 * MINUTE);
});

test(
  '64 clients of a service in another process at once',
  async () => {
    const service = script('echo.mjs', ['many']);
    await service.says('listening');
    const clients = Array.from({ length: 64 }, () => client());
    await Promise.all(
      clients.map(async (endpoint, i) => {
        endpoint.connect('many');
        for (let n = 0; n < 20; n++) await endpoint.send(Buffer.from(`client ${i}, message ${n}`));
        for (let n = 0; n < 20; n++) expect(text((await endpoint.receive()).data)).toBe(`client ${i}, message ${n}`);
      }),
    );
    service.child.kill();
    await service.ended;
  },
  MINUTE,
);

test('a process exits by itself when nothing waits', async () => {
  const device = openDevice('doca_host0');
  device.close();
  const program = script('idle.mjs', []);
  expect([await program.ended, program.output()]).toEqual([0, '']);
});
