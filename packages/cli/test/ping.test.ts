import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { Statistics } from '../src/ping/statistics.js';
import { Verbs, verbs } from './verbs.js';

const running: Verbs[] = [];

afterEach(async () => {
  for (const each of running.splice(0)) {
    each.kill('SIGKILL');
    await each.outcome();
  }
});

function start(args: readonly string[], env?: NodeJS.ProcessEnv): Verbs {
  const started = new Verbs(['ping', ...args], env);
  running.push(started);
  return started;
}

async function server(args: readonly string[] = [], env?: NodeJS.ProcessEnv): Promise<{ server: Verbs; port: string }> {
  const started = start(['-s', '-p', '0', ...args], env);
  return { server: started, port: (await started.until(/port (\d+)/))[1] ?? '' };
}

interface Document {
  sent: number;
  received: number;
  minUsec: number;
  avgUsec: number;
  maxUsec: number;
  replies: { seq: number; usec: number }[];
}

describe('verbs ping', () => {
  it.each([
    ['SEND', ['-S', '64']],
    ['SEND', ['-S', '0']],
    ['SEND', ['-S', '100000']],
    ['READ', ['--read', '-S', '64']],
    ['READ', ['--read', '-S', '100000']],
  ])('measures round trips by %s %j', async (_name, args) => {
    const { server: answering, port } = await server(['--once', '--json']);
    const { status, stdout, stderr } = await verbs(['ping', '-p', port, '-c', '5', '-i', '0', '--json', ...args]);
    expect(stderr).toBe('');
    expect(status).toBe(0);
    const document = JSON.parse(stdout) as Document;
    expect(document).toMatchObject({ sent: 5, received: 5 });
    expect(document.replies.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
    expect(document.minUsec).toBeGreaterThan(0);
    expect(document.maxUsec).toBeGreaterThanOrEqual(document.avgUsec);
    const totals = await answering.outcome();
    expect(totals.status).toBe(0);
    expect(JSON.parse(totals.stdout)).toEqual({ clients: 1, answered: args.includes('--read') ? 0 : 5 });
  });

  it('prints as ping does', async () => {
    const { port } = await server();
    const { stdout } = await verbs(['ping', '127.0.0.1', '-p', port, '-c', '2', '-i', '0']);
    expect(stdout).toMatch(
      /^PING ::ffff:127\.\S+ QPN 0x[0-9a-f]+ from soft0: 64 bytes, RC SEND\n(64 bytes from \S+: seq=\d time=[\d.]+ usec\n){2}\n--- 127\.0\.0\.1 verbs ping statistics ---\n2 pings, 2 answered\nrtt min\/avg\/max\/stddev = [\d.]+(\/[\d.]+){3} usec\n$/,
    );
  });

  it('serves one client after another, and several at a time', async () => {
    const { server: answering, port } = await server(['--json']);
    const args = ['ping', '-p', port, '-c', '20', '-i', '0', '--json'];
    const first = await verbs(args);
    const both = await Promise.all([verbs(args), verbs(args)]);
    for (const { status } of [first, ...both]) expect(status).toBe(0);
    answering.kill('SIGTERM');
    const { status, stdout } = await answering.outcome();
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ clients: 3, answered: 60 });
  });

  it.each([[['-i', '0']], [['--read', '-i', '0']]])(
    '%j ends by a signal, however fast the answers come',
    async (args) => {
      const { server: answering, port } = await server();
      const client = start(['-p', port, ...args]);
      await client.until(/seq=50 /);
      client.kill('SIGINT');
      const { status, stdout } = await client.outcome();
      expect(status).toBe(0);
      expect(stdout).toContain('ping statistics');
      answering.kill('SIGTERM');
      expect(await answering.outcome()).toMatchObject({ status: 0 });
    },
  );

  it('gets through loss', async () => {
    const { port } = await server(['--once'], { VERBS_SOFT: 'soft0,drop=0.2,seed=1' });
    const { status, stdout, stderr } = await verbs(['ping', '-p', port, '-c', '50', '-i', '0', '--json', '-t', '20'], {
      VERBS_SOFT: 'soft0,drop=0.2,seed=2',
    });
    expect(stderr).toBe('');
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ sent: 50, received: 50 });
  });

  it('prints the summary on Ctrl-C', async () => {
    const { port } = await server();
    const client = start(['-p', port, '-i', '0.001']);
    await client.until(/seq=3 /);
    client.kill('SIGINT');
    const { status, stdout } = await client.outcome();
    expect(stdout).toMatch(/verbs ping statistics ---\n\d+ pings, \d+ answered\nrtt/);
    expect(status).toBe(0);
  });

  it('says that the peer died', async () => {
    const { server: answering, port } = await server();
    const client = start(['-p', port, '-i', '0.001']);
    await client.until(/seq=3 /);
    answering.kill('SIGKILL');
    const { status, stdout, stderr } = await client.outcome();
    expect(stderr).toMatch(/no longer responds|has gone away/);
    expect(stderr).toContain('verbs ping -s');
    expect(stdout).toMatch(/verbs ping statistics ---\n\d+ pings, \d+ answered\nrtt/);
    expect(status).toBe(1);
  });

  it('says that nobody is there', async () => {
    const unused = createServer().listen(0, '127.0.0.1');
    await once(unused, 'listening');
    const { port } = unused.address() as { port: number };
    unused.close();
    const { status, stderr } = await verbs(['ping', '-p', String(port), '-c', '1']);
    expect(stderr).toMatch(/no "verbs ping -s" at 127\.0\.0\.1 port \d+: .*ECONNREFUSED/);
    expect(status).toBe(1);
  });

  it('says that an address is not one of this machine', async () => {
    const { status, stderr } = await verbs(['ping', '-s', '-p', '0', '--bind', '192.0.2.1']);
    expect(stderr).toMatch(
      /^verbs: cannot wait on 192\.0\.2\.1 port 0: .*EADDRNOTAVAIL.*\n {2}--bind takes an address/,
    );
    expect(status).toBe(1);
  });

  it('survives a peer that speaks something else', async () => {
    const nonsense = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    }).listen(0, '127.0.0.1');
    await once(nonsense, 'listening');
    const { port } = nonsense.address() as { port: number };
    const { status, stderr } = await verbs(['ping', '-p', String(port), '-c', '1']);
    nonsense.close();
    expect(stderr).toContain('the peer speaks another protocol');
    expect(status).toBe(1);
  });
});

describe('the statistics', () => {
  it('are those of the times', () => {
    const statistics = new Statistics();
    for (const time of [2, 4, 4, 4, 5, 5, 7, 9]) {
      statistics.addSent();
      statistics.addReceived(time);
    }
    expect(statistics.summary()).toMatchObject({ sent: 8, received: 8, min: 2, max: 9, avg: 5 });
    expect(statistics.summary().stddev).toBeCloseTo(Math.sqrt(32 / 7), 12);
  });

  it('are zero without any', () => {
    expect(new Statistics().summary()).toEqual({ sent: 0, received: 0, min: 0, avg: 0, max: 0, stddev: 0 });
  });
});
