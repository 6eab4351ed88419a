// Many clients of one server of Comch: every message comes back, in order and right. The full size, a million messages each
// way, is a command of its own: `npm run trial long`.
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { long, MINUTE } from './helpers/long.js';
import { foreign, type Program } from './helpers/program.js';

const lossy = ['host', 'dpu']
  .map((role, i) => `doca_${role}0,kind=doca,role=${role},drop=0.02,seed=${i + 7}`)
  .join(';');

interface Run {
  clients: number;
  /** Client processes. */
  processes: number;
  /** Of each client. */
  messages: number;
  env?: Record<string, string>;
  /** What happens when all are connected. */
  meanwhile?: (clients: Program[]) => Promise<void>;
}

let serial = 0;

/** What the server and the client processes said at their end. */
async function run({ clients, processes, messages, env, meanwhile }: Run): Promise<{ server: string; ends: string[] }> {
  const name = `scale-${process.env['VITEST_WORKER_ID'] ?? '0'}-${serial++}`;
  const server = foreign('comch_scale', ['server', name, String(clients)], env);
  await server.says('running');
  const each = clients / processes;
  const programs = Array.from({ length: processes }, (_, i) =>
    foreign('comch_scale', ['client', name, String(i * each), String(each), String(messages)], env),
  );
  await meanwhile?.(programs);
  const ends = await Promise.all(programs.map(async ({ ended, output }) => `${String(await ended)} ${output()}`));
  expect([await server.ended, server.output()], ends.join()).toEqual([0, expect.stringContaining('all here')]);
  return { server: server.output(), ends };
}

function expectAll({ server, ends }: { server: string; ends: string[] }, { clients, processes, messages }: Run): void {
  const total = clients * messages;
  expect(server).toContain(`${clients} came, 0 cut, ${total} received`);
  for (const end of ends) expect(end).toMatch(new RegExp(`^0 running\\ndone, ${total / processes} received\\n$`));
}

const sizes: [string, Run][] = long
  ? [
      ['a million messages each way with 64 clients', { clients: 64, processes: 4, messages: 15_625 }],
      [
        'a million messages each way with 64 clients and 2 % loss',
        { clients: 64, processes: 4, messages: 15_625, env: { VERBS_SOFT: lossy } },
      ],
      ['256 clients', { clients: 256, processes: 1, messages: 1000 }],
    ]
  : [
      ['64 clients in a process', { clients: 64, processes: 1, messages: 200 }],
      [
        '64 clients in four processes, with 2 % loss',
        { clients: 64, processes: 4, messages: 100, env: { VERBS_SOFT: lossy } },
      ],
      ['256 clients in a process that may have 1024 descriptors', { clients: 256, processes: 1, messages: 20 }],
    ];

describe('nothing is lost, and nothing is out of order', () => {
  test.each(sizes)(
    '%s',
    async (_, size) => {
      expectAll(await run(size), size);
    },
    10 * MINUTE,
  );
});

test(
  'kill -9 of one of four client processes with 16 clients each: the others lose nothing, the server learns of all 16',
  async () => {
    const size = { clients: 64, processes: 4, messages: long ? 15_625 : 2000 };
    let killed = 0;
    const { server, ends } = await run({
      ...size,
      meanwhile: async (clients) => {
        await Promise.all(clients.map((client) => client.says('running')));
        await sleep(100);
        clients[0]?.child.kill('SIGKILL');
        killed++;
      },
    });
    expect(killed).toBe(1);
    expect(server).toMatch(/64 came, 16 cut, \d+ received/);
    expect(ends[0]).toMatch(/^SIGKILL running\n$/);
    for (const end of ends.slice(1)) expect(end).toContain(`done, ${16 * size.messages} received`);
  },
  10 * MINUTE,
);
