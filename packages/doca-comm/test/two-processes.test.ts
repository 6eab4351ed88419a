import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { openDevice } from '../dist/index.js';
import { client, serve, text } from './helpers/devices.js';
import { script } from './helpers/program.js';

/** The long run is a command of its own: `npm run test:long`. */
const long = process.env['VERBS_DOCA_LONG'] !== undefined;
const MINUTE = 60_000;

/**
 * What a dead peer is noticed by: the keep-alive at most 300 ms after its death, eight timeouts of 134 ms each, the tick
 * that looks for the result at most 300 ms later, and Node's loop. That is less than 1.7 of the two seconds that are
 * promised; each of these steps may come as late as timers do on the machine at that time.
 */
const STEPS = 11;

/** How late timers of this process come at worst, while it is in use; milliseconds. */
function lateness(): Disposable & { worst: () => number } {
  const INTERVAL = 10;
  let worst = 0;
  let last = performance.now();
  const look = () => {
    const now = performance.now();
    worst = Math.max(worst, now - last - INTERVAL);
    last = now;
  };
  const timer = setInterval(look, INTERVAL);
  return {
    worst() {
      look();
      return worst;
    },
    [Symbol.dispose]() {
      clearInterval(timer);
    },
  };
}

async function stream(count: number, faults: string): Promise<void> {
  const env = { VERBS_SOFT: `doca_host0,kind=doca,role=host${faults};doca_dpu0,kind=doca,role=dpu${faults}` };
  const service = script('stream.mjs', ['service', `stream${faults}`, String(count)], env);
  await service.says('listening');
  const other = script('stream.mjs', ['client', `stream${faults}`, String(count)], env);
  expect([await other.ended, other.output()]).toEqual([0, expect.stringMatching(/^done in/)]);
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

test(
  'a killed service: CONNECTION_RESET within two seconds on an idle connection, and the next one is found',
  async () => {
    const rounds = long ? 100 : 2;
    for (let round = 0; round < rounds; round++) {
      const service = script('echo.mjs', ['mortal']);
      await service.says('listening');
      const endpoint = client();
      const peer = endpoint.connect('mortal');
      await endpoint.send(Buffer.from('x'));
      await endpoint.receive();
      await sleep(Math.random() * 50);
      using clock = lateness();
      service.child.kill('SIGKILL');
      const died = performance.now();
      await expect(endpoint.receive()).rejects.toMatchObject({ code: 'DOCA_ERROR_CONNECTION_RESET', peer });
      expect(performance.now() - died).toBeLessThan(2000 + STEPS * clock.worst());
      expect(() => endpoint.sendTo(Buffer.from('x'), peer)).toThrow(/CONNECTION_RESET/);
      expect(peer.updateInfo()).toBe('aborted');
      endpoint.disconnect(peer);
      expect(() => endpoint.connect('mortal')).toThrow(/no service named mortal/);
      endpoint.close();
      await service.ended;
    }
  },
  20 * MINUTE,
);

test(
  'a killed client disturbs nobody else; its address is reported and freed',
  async () => {
    const service = serve('survivor');
    const steady = client();
    steady.connect('survivor');
    const serving = (async () => {
      for await (const { peer, data } of service) service.send(data, peer).catch(() => undefined);
    })();
    const rounds = long ? 100 : 2;
    for (let round = 0; round < rounds; round++) {
      const lost = new Promise<void>((resolve) => {
        service.once('lost', () => {
          resolve();
        });
      });
      const talker = script('talker.mjs', ['survivor']);
      await talker.says('talking');
      await sleep(Math.random() * 50);
      talker.child.kill('SIGKILL');
      for (let n = 0; n < 10; n++) {
        await steady.send(Buffer.from(`round ${round}.${n}`));
        expect(text((await steady.receive()).data)).toBe(`round ${round}.${n}`);
      }
      await lost;
      expect(service.peers).toHaveLength(1);
    }
    service.close();
    await serving;
  },
  20 * MINUTE,
);

test('a process exits by itself when nothing waits', async () => {
  const device = openDevice('doca_host0');
  device.close();
  const program = script('idle.mjs', []);
  expect(await program.ended).toBe(0);
});
