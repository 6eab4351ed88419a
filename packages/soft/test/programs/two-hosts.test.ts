// Debian's unmodified programs on two hosts with nothing configured: two network namespaces, at the ends of an Ethernet of
// 1500 bytes. The devices have the addresses of their hosts, and packets of the length that the Ethernet carries.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeTwoHosts, type Host } from '../../../core/test/shared/two-hosts.js';
import { dropInDirectory } from '../../src/index.js';
import { describe as describeOutcome, startIn } from './program.js';

const built = join(import.meta.dirname, '../../../rdmacm/build/lib');

interface Case {
  name: string;
  server: string;
  client: string;
  prints?: RegExp;
  /** The server waits for more clients. */
  stays?: boolean;
}

describeTwoHosts(9, (server, client) => {
  const to = server.ipv4;
  const cases: Case[] = [
    {
      name: 'rping',
      server: '-s -C 20 -S 60000',
      client: `-c -a ${to} -C 20 -S 60000 -V -v`,
      prints: /rdma-ping-19: /,
    },
    { name: 'ucmatose', server: '', client: `-s ${to}`, prints: /return status 0/ },
    {
      name: 'mckey',
      server: `-m 239.7.7.7 -b ${to}`,
      client: `-s -m 239.7.7.7 -b ${client.ipv4}`,
      prints: /status 0/,
    },
    { name: 'ib_write_bw', server: '-R -n 100', client: `-R -n 100 ${to}`, prints: /^ 65536 +100 /m },
    { name: 'ib_read_lat', server: '-R -n 50 -s 9000', client: `-R -n 50 -s 9000 ${to}`, prints: /^ 9000 +50 /m },
    { name: 'ib_send_bw', server: '-x 1 -n 100', client: `-x 1 -n 100 ${to}`, prints: /^ 65536 +100 /m },
    { name: 'ib_send_lat', server: '-c UD -x 1 -s 1024', client: `-c UD -x 1 -s 1024 ${to}`, prints: /^ 1024 /m },
    { name: 'ibv_rc_pingpong', server: '-g 1 -c', client: `-g 1 -c ${to}`, prints: /1000 iters/ },
    { name: 'ibv_ud_pingpong', server: '-g 1 -s 1024', client: `-g 1 -s 1024 ${to}`, prints: /1000 iters/ },
    { name: 'qperf', server: '', client: `-cm1 ${to} -t 1 rc_lat`, prints: /latency/, stays: true },
  ];
  let directory = '';

  beforeAll(() => {
    directory = dropInDirectory([
      { kind: 'rdmacm', library: join(built, 'libverbs-soft-rdmacm.so.1'), dropIn: join(built, 'dropin') },
    ]);
  });

  afterAll(() => {
    if (directory !== '') rmSync(directory, { recursive: true, force: true });
  });

  const start = ({ wrap: [command = '', ...rest] }: Host, name: string, args: string) =>
    startIn(directory, command, [...rest, name, ...args.split(' ').filter(Boolean)], 'soft0');

  test.for(cases)('$name $client', { timeout: 60_000 }, async ({ name, stays, prints, ...args }) => {
    const waiting = start(server, name, args.server);
    // A program says nothing when it begins to listen: clients ask again.
    const end = Date.now() + 20_000;
    let outcome = await start(client, name, args.client).ended;
    while (outcome.status !== 0 && waiting.process.exitCode === null && Date.now() < end) {
      await sleep(200);
      outcome = await start(client, name, args.client).ended;
    }
    expect(outcome.status, `${describeOutcome(outcome)}\n${waiting.stdout}${waiting.stderr}`).toBe(0);
    if (prints) expect(outcome.stdout).toMatch(prints);
    if (stays) return;
    const ended = await waiting.ended;
    expect(ended.status, describeOutcome(ended)).toBe(0);
  });

  // IPv6 checks an address for a duplicate before anybody may use it.
  test.for([
    ['IPv4', '10.214.9.1/24', '10.214.9.2/24'],
    ['IPv6', 'fd00:214:9::1/64', 'fd00:214:9::2/64'],
  ])(
    'a server for every address hears at one that comes later: %s',
    { timeout: 60_000 },
    async ([, late = '', own = '']) => {
      const [address = ''] = late.split('/');
      start(server, 'rping', address.includes(':') ? '-s -P -a ::' : '-s -P');
      const ask = async (at: string) => {
        const end = Date.now() + 20_000;
        for (;;) {
          const outcome = await start(client, 'rping', `-c -a ${at} -C 2`).ended;
          if (outcome.status === 0 || Date.now() > end) return outcome;
          await sleep(200);
        }
      };
      const before = await ask(address.includes(':') ? server.ipv6 : server.ipv4);
      expect(before.status, describeOutcome(before)).toBe(0);
      server.ip('addr', 'add', late, 'dev', 'eth0');
      client.ip('addr', 'add', own, 'dev', 'eth0', ...(address.includes(':') ? ['nodad'] : []));
      const after = await ask(address);
      expect(after.status, describeOutcome(after)).toBe(0);
    },
  );
});
