import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { dropInDirectory, machineFor } from '../../src/index.js';
import { describe as describeOutcome, freePort, type Outcome, type Program, startIn } from './program.js';

// Debian's unmodified librdmacm programs, between two processes, on the drop-in librdmacm.so.1 of @verbs/rdmacm.

const built = join(import.meta.dirname, '../../../rdmacm/build/lib');
let directory = '';

beforeAll(() => {
  const library = join(built, 'libverbs-soft-rdmacm.so.1');
  if (!existsSync(library)) throw new Error(`${library} is not built: npm run setup`);
  directory = dropInDirectory([{ kind: 'rdmacm', library, dropIn: join(built, 'dropin') }]);
});

afterAll(() => {
  if (directory !== '') rmSync(directory, { recursive: true, force: true });
});

/** The listeners of this machine announce themselves by name ("…/bound": not yet one): waits for the one at that port. */
async function listening(server: Program, port: number): Promise<void> {
  const service = new RegExp(`@verbs-cm/[0-9a-f]*${port.toString(16).padStart(4, '0')}/[^/]*/[^/]*$`, 'm');
  while (!service.test(readFileSync('/proc/net/unix', 'utf8'))) {
    if (server.process.exitCode !== null) throw new Error(describeOutcome(await server.ended));
    await sleep(20);
  }
}

interface Case {
  name: string;
  /** The option of the port; '' for a program that has one port only. */
  port: string;
  server: string;
  client: string;
  /** What a successful client prints. */
  prints?: RegExp;
  /** The server goes on after its first client. */
  stays?: boolean;
}

const cases: Case[] = [
  { name: 'rping', port: '-p', server: '-s -C 20 -v', client: '-c -C 20 -v -V', prints: /rdma-ping-19: / },
  { name: 'rping', port: '-p', server: '-s -C 1000', client: '-c -C 1000 -V' },
  { name: 'rping', port: '-p', server: '-s -C 20 -S 65535', client: '-c -C 20 -S 65535 -V' },
  { name: 'rping', port: '-p', server: '-s -P', client: '-c -C 50 -V', stays: true },
  { name: 'rping', port: '-p', server: '-s -q -C 10', client: '-c -q -C 10 -V' },
  { name: 'ucmatose', port: '-p', server: '', client: '', prints: /return status 0/ },
  {
    name: 'ucmatose',
    port: '-p',
    server: '-c 20 -C 10 -S 4096',
    client: '-c 20 -C 10 -S 4096',
    prints: /return status 0/,
  },
  { name: 'udaddy', port: '', server: '', client: '', prints: /return status 0/ },
  { name: 'cmtime', port: '-p', server: '-c 100', client: '-c 100', prints: /disconnect/, stays: true },
  { name: 'rdma_server', port: '-p', server: '', client: '', prints: /rdma_client: end 0/ },
  { name: 'ib_send_lat', port: '-p', server: '-R -F -n 100', client: '-R -F -n 100', prints: /^ *2 +100 /m },
  { name: 'ib_write_bw', port: '-p', server: '-R -F -n 100', client: '-R -F -n 100', prints: /^ *65536 +100 /m },
  { name: 'ib_read_lat', port: '-p', server: '-R -F -n 100', client: '-R -F -n 100', prints: /^ *2 +100 /m },
];

function words(text: string): string[] {
  return text.split(' ').filter((word) => word !== '');
}

function succeeded(outcome: Outcome): void {
  expect(outcome.status, describeOutcome(outcome)).toBe(0);
}

describe('with librdmacm', { timeout: 120_000 }, () => {
  test.each(cases)('$name $client', async ({ name, port, server, client, prints, stays }) => {
    const number = port === '' ? 7174 : await freePort();
    const at = port === '' ? [] : [port, String(number)];
    const listener = startIn(directory, name, [...words(server), ...at]);
    await listening(listener, number);
    const peer = name === 'rdma_server' ? 'rdma_client' : name;
    // perftest has its peer without a letter.
    const to = name === 'rping' ? ['-a', '127.0.0.1'] : name.startsWith('ib_') ? ['127.0.0.1'] : ['-s', '127.0.0.1'];
    const outcome = await startIn(directory, peer, [...words(client), ...at, ...to]).ended;
    succeeded(outcome);
    if (prints) expect(outcome.stdout).toMatch(prints);
    if (stays !== true) succeeded(await listener.ended);
  });

  test('rdma shows the identifiers of the programs in their states', async () => {
    const machine = machineFor([]);
    onTestFinished(() => {
      machine.remove();
    });
    const env = { ...process.env, ...machine.environment, VERBS_SOFT: 'soft0,link=udp' };
    const of = ({ process: { pid } }: Program): Record<string, unknown>[] => {
      const text = execFileSync('rdma', ['-j', 'resource', 'show', 'cm_id'], { env, encoding: 'utf8' });
      return (JSON.parse(text) as Record<string, unknown>[]).filter((id) => id['pid'] === pid);
    };
    const number = await freePort();
    const at = ['-p', String(number), '-v'];
    const server = startIn(directory, 'rping', ['-s', '-P', ...at]);
    await listening(server, number);
    const any = { ifname: 'soft0', ps: 'TCP', comm: 'rping' };
    await expect.poll(() => of(server)).toMatchObject([{ ...any, state: 'LISTEN', 'src-addr': `0.0.0.0:${number}` }]);
    const client = startIn(directory, 'rping', ['-c', '-a', '127.0.0.1', ...at]);
    await client.printed(/ping data/);
    const connected = { ...any, port: 1, 'qp-type': 'RC', state: 'CONNECT' };
    const [own, ...others] = of(client);
    expect(others).toEqual([]);
    expect(own).toMatchObject({ ...connected, 'dst-addr': `127.0.0.1:${number}`, lqpn: expect.any(Number) as number });
    const accepted = of(server).find(({ state }) => state === 'CONNECT');
    expect(accepted).toMatchObject({ ...connected, 'src-addr': own?.['dst-addr'], 'dst-addr': own?.['src-addr'] });
    client.process.kill();
    await client.ended;
    expect(of(client)).toEqual([]);
  });

  test('mckey: a multicast group', async () => {
    const receiver = startIn(directory, 'mckey', ['-m', '239.7.7.7', '-c', '1']);
    await receiver.printed(/joined/);
    succeeded(await startIn(directory, 'mckey', ['-m', '239.7.7.7', '-c', '1', '-s']).ended);
    succeeded(await receiver.ended);
  });

  test('the messages are what tshark takes them for', async () => {
    const capture = join(directory, 'client.pcapng');
    const number = await freePort();
    const server = startIn(directory, 'rping', ['-s', '-C', '1', '-p', String(number)]);
    await listening(server, number);
    const configuration = `soft0,link=udp,capture=${capture}`;
    const args = ['-c', '-C', '1', '-a', '127.0.0.1', '-p', String(number)];
    succeeded(await startIn(directory, 'rping', args, configuration).ended);
    const fields = ['req.serviceid.dport', 'req.ip_cm.dip4', 'req.e2eflowctrl', 'req.retrcount', 'req.pppmtu'];
    const shown = fields.flatMap((field) => ['-e', `infiniband.cm.${field}`]);
    const rows = await startIn(directory, 'tshark', [
      ...['-r', capture, '--disable-protocol', 'rpcordma', '-Y', 'infiniband.mad', '-T', 'fields'],
      ...['-e', '_ws.col.Info', ...shown],
    ]).ended;
    // The questions about connections that stand are not part of the exchange.
    const exchange = rows.stdout.split('\n').filter((line) => /^CM: (Connect|Ready|Disconnect)/.test(line));
    // A request to the address that both have may come to the client itself, which hands it over: then it is there twice.
    const lines = exchange.filter((line, index) => line !== exchange[index - 1]);
    // Either end may be the first to disconnect, and tells once more when it exits.
    expect(lines.slice(0, 4).map((line) => line.split('\t')[0])).toEqual([
      'CM: ConnectRequest',
      'CM: ConnectReply',
      'CM: ReadyToUse',
      'CM: DisconnectRequest',
    ]);
    const [, service, destination] = lines[0]?.split('\t') ?? [];
    expect(Number(service)).toBe(number);
    expect(destination).toBe('127.0.0.1');
    expect(rows.stdout).not.toContain('Malformed');
  });
});
