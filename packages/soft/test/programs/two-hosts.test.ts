// Debian's unmodified programs on two hosts with nothing configured: two network namespaces, at the ends of an Ethernet of
// 1500 bytes. The devices have the addresses of their hosts, and packets of the length that the Ethernet carries.
import { execFileSync, spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dropInDirectory } from '../../src/index.js';
import { describe as describeOutcome, startIn } from './program.js';

const server = { namespace: `verbs-two-${process.pid}-s`, address: '10.213.9.1' };
const client = { namespace: `verbs-two-${process.pid}-c`, address: '10.213.9.2' };
const built = join(import.meta.dirname, '../../../rdmacm/build/lib');

/** Making a network namespace takes root; the reason is undefined where it works. */
function whyNot(): string | undefined {
  const made = spawnSync('ip', ['netns', 'add', server.namespace], { encoding: 'utf8' });
  if (made.error !== undefined) return made.error.message;
  return made.status === 0 ? undefined : made.stderr.trim();
}

const reason = whyNot();
const ip = (...args: string[]) => execFileSync('ip', args, { stdio: 'pipe' });

interface Case {
  name: string;
  server: string;
  client: string;
  prints?: RegExp;
  /** The server waits for more clients. */
  stays?: boolean;
}

const to = server.address;
const cases: Case[] = [
  { name: 'rping', server: '-s -C 20 -S 60000', client: `-c -a ${to} -C 20 -S 60000 -V -v`, prints: /rdma-ping-19: / },
  { name: 'ucmatose', server: '', client: `-s ${to}`, prints: /return status 0/ },
  {
    name: 'mckey',
    server: `-m 239.7.7.7 -b ${to}`,
    client: `-s -m 239.7.7.7 -b ${client.address}`,
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

describe.skipIf(reason !== undefined)(`two hosts${reason === undefined ? '' : ` (skipped: ${reason})`}`, () => {
  let directory = '';

  beforeAll(async () => {
    directory = dropInDirectory([
      { kind: 'rdmacm', library: join(built, 'libverbs-soft-rdmacm.so.1'), dropIn: join(built, 'dropin') },
    ]);
    ip('netns', 'add', client.namespace);
    ip(
      '-n',
      server.namespace,
      'link',
      'add',
      'veth0',
      'type',
      'veth',
      'peer',
      'name',
      'veth0',
      'netns',
      client.namespace,
    );
    for (const { namespace, address } of [server, client]) {
      ip('-n', namespace, 'addr', 'add', `${address}/24`, 'dev', 'veth0');
      for (const name of ['lo', 'veth0']) ip('-n', namespace, 'link', 'set', name, 'up');
    }
    await sleep(100); // until the Ethernet has its carrier
  });

  afterAll(() => {
    for (const { namespace } of [server, client]) spawnSync('ip', ['netns', 'del', namespace]);
    if (directory !== '') rmSync(directory, { recursive: true, force: true });
  });

  const start = ({ namespace }: { namespace: string }, name: string, args: string) =>
    startIn(directory, 'ip', ['netns', 'exec', namespace, name, ...args.split(' ').filter(Boolean)], 'soft0');

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
});
