import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Outcome, Program } from './program.js';

const DONE = { status: 0, stderr: '' };
const run = (name: string, ...args: string[]) => new Program(`programs/${name}`, args).outcome();

/** A program that waits for another one, and the other one. */
async function both(name: string, ...args: string[]): Promise<[Outcome, Outcome]> {
  const one = new Program(`programs/${name}`, ['--port', '0', ...args]);
  const [, port] = await one.until(/waiting on 127\.0\.0\.1 port (\d+)/);
  const two = new Program(`programs/${name}`, ['--port', port ?? '', ...args, '127.0.0.1']);
  return Promise.all([one.outcome(), two.outcome()]);
}

describe('small programs', () => {
  it('devinfo lists devices, ports and GIDs', async () => {
    const outcome = await run('devinfo');
    expect(outcome).toMatchObject(DONE);
    expect(outcome.stdout).toMatch(/^hca_id: soft0 \(soft\)\n {2}fw_ver/m);
    expect(outcome.stdout).toMatch(/port 1\n {4}state {8}ACTIVE\n[^]*GID\[0\] +::ffff:127\./);
  });

  it.each(['rc-pingpong', 'ud-pingpong'])('%s goes there and back', async (name) => {
    for (const outcome of await both(name, '--size', '1000', '--iters', '200')) {
      expect(outcome.status, outcome.stderr).toBe(0);
      expect(outcome.stdout).toMatch(/^400000 bytes in [\d.]+ seconds = [\d.]+ Mbit\/sec\n200 iters in/);
    }
  });

  it('srq: eight clients share one pool of buffers', async () => {
    const outcome = await run('srq');
    expect(outcome).toMatchObject(DONE);
    expect(outcome.stdout).toMatch(/^client 7: 100 messages\n800 messages through 64 buffers, refilled \d+ times$/m);
  });

  it('atomics: no ticket twice, no update lost', async () => {
    expect(await run('atomics')).toMatchObject({
      ...DONE,
      stdout: '200 different tickets of 200\nbalance 500, expected 500\n',
    });
  });

  it('async-events: the port goes down and comes up, a queue pair fails', async () => {
    const outcome = await run('async-events');
    expect(outcome).toMatchObject(DONE);
    expect(outcome.stdout.split('\n')).toEqual(
      expect.arrayContaining(['PORT_ERR: port 1', 'PORT_ACTIVE: port 1', 'QP_ACCESS_ERR: the peer']),
    );
  });
});

describe('programs in TypeScript', () => {
  it('rc-echo: a message comes back', async () => {
    const server = new Program('programs/rc-echo', ['--port', '0']);
    try {
      const [, port] = await server.until(/waiting on 127\.0\.0\.1 port (\d+)/);
      for (let i = 0; i < 2; i++) {
        const client = await run('rc-echo', '--port', port ?? '', '127.0.0.1');
        expect(client).toMatchObject({ ...DONE, stdout: 'hello over verbs\n' });
      }
    } finally {
      server.process.kill();
      await server.outcome();
    }
  });

  it('ud-service: answers clients that it has never heard of', async () => {
    const server = new Program('programs/ud-service', []);
    try {
      const [, qpn, gid] = await server.until(/node ud-service\.ts (\d+) (\S+) TEXT/);
      for (const text of ['one', 'two']) {
        const client = await run('ud-service', qpn ?? '', gid ?? '', text);
        expect(client).toMatchObject({ ...DONE, stdout: `${text.toUpperCase()}\n` });
      }
    } finally {
      server.process.kill();
      await server.outcome();
    }
  });

  it('kv-read: clients read values that the server put into its memory', async () => {
    const server = new Program('programs/kv-read', ['serve', '0', 'colour=green', 'shape=round']);
    try {
      const [, port] = await server.until(/serving on port (\d+)/);
      const get = (key: string) => run('kv-read', 'get', port ?? '', key);
      expect(await get('colour')).toMatchObject({ ...DONE, stdout: 'green\n' });
      expect(await get('shape')).toMatchObject({ ...DONE, stdout: 'round\n' });
      expect(await get('nothing')).toMatchObject({ ...DONE, stdout: '' });
    } finally {
      server.process.kill();
      await server.outcome();
    }
  });

  it.each([
    ['comch', 'comch'],
    ['comm-channel', 'comm-channel'],
    ['comch', 'comm-channel'],
  ])('comm-rpc: calls from a host to its DPU, which serves over %s, the host over %s', async (ofDpu, ofHost) => {
    const start = (api: string, ...args: string[]) =>
      new Program('programs/comm-rpc', args, { env: { VERBS_DOCA_API: api } });
    const ask = (...args: string[]) => start(ofHost, ...args).outcome();
    const server = start(ofDpu, 'serve');
    try {
      await server.until(/serving/);
      expect(await ask('add', '1', '2')).toMatchObject({ ...DONE, stdout: '{ id: 1, result: 3 }\n' });
      expect((await ask('upper', 'abc')).stdout).toBe("{ id: 1, result: 'ABC' }\n");
      expect((await ask('toString')).stdout).toBe("{ id: 1, error: 'no method toString' }\n");
    } finally {
      server.process.kill();
      await server.outcome();
    }
  });

  it('vxlan-pipeline: a frame goes into a tunnel, and comes out of it unchanged', async () => {
    expect(await run('vxlan-pipeline')).toMatchObject({ ...DONE, stdout: 'ether ipv4 udp in a tunnel by 2 flows\n' });
  });

  it('hbl-encap: a WRITE arrives through an encapsulation', async () => {
    expect(await run('hbl-encap')).toMatchObject({ ...DONE, stdout: 'through VXLAN\n' });
  });

  it.each([
    ['rc-echo', 25],
    ['ud-service', 30],
    ['hbl-encap', 42],
    ['vxlan-pipeline', 42],
    ['kv-read', 43],
    ['comm-rpc', 42],
  ])('%s has at most %d lines', (name, most) => {
    const text = readFileSync(new URL(`../programs/${name}.ts`, import.meta.url), 'utf8');
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(most);
  });
});
