import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { type Outcome, pathOf, Program } from './program.js';

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

  it('rc-pingpong does not depend on the order of an answer and the acknowledgement', async () => {
    // Of the first message: it is sent again, and acknowledged once more.
    const env = { VERBS_SOFT: 'soft0,fault=drop:opcode=rc_acknowledge:nth=1' };
    const one = new Program('programs/rc-pingpong', ['--port', '0', '--iters', '20'], { env });
    const [, port] = await one.until(/waiting on 127\.0\.0\.1 port (\d+)/);
    const two = new Program('programs/rc-pingpong', ['--port', port ?? '', '--iters', '20', '127.0.0.1']);
    for (const { status, stderr } of await Promise.all([one.outcome(), two.outcome()])) expect(status, stderr).toBe(0);
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

/** A host that sends to a service of calls what is none. */
const NO_CALL = `
  import { Endpoint, listDevices, openDevice } from '@verbs/doca-comm';
  const client = new Endpoint({ device: openDevice(listDevices().find(({ hasRepresentors }) => !hasRepresentors)) });
  await client.connectAsync('rpc');
  await client.send(Buffer.from('no call'));
  await client.closeAsync();`;

/** A peer of a server that gives up: what it says of its queue pair is nothing. */
async function giveUp(port = ''): Promise<void> {
  const socket = connect({ host: '127.0.0.1', port: Number(port) });
  socket.resume().write('{"verbs":1,"endpoint":{}}\n');
  await once(socket, 'close');
}

describe('programs in TypeScript', () => {
  it('rc-echo: a message comes back', async () => {
    const server = new Program('programs/rc-echo', ['--port', '0']);
    try {
      const [, port] = await server.until(/waiting on 127\.0\.0\.1 port (\d+)/);
      for (let i = 0; i < 2; i++) {
        await giveUp(port);
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
      // In capitals, these are half as long again as an answer may be.
      const long = new Program('programs/ud-service', [qpn ?? '', gid ?? '', 'ŉ'.repeat(512)]);
      await server.until(/RangeError/);
      long.process.kill();
      await long.outcome();
      expect(await run('ud-service', qpn ?? '', gid ?? '', 'three')).toMatchObject({ ...DONE, stdout: 'THREE\n' });
    } finally {
      server.process.kill();
      await server.outcome();
    }
  });

  it('kv-read: clients read values that the server put into its memory', async () => {
    const server = new Program('programs/kv-read', ['serve', '0', 'colour=green', 'shape=round', 'sum=1+1=2']);
    try {
      const [, port] = await server.until(/serving on port (\d+)/);
      const get = (key: string) => run('kv-read', 'get', port ?? '', key);
      expect(await get('colour')).toMatchObject({ ...DONE, stdout: 'green\n' });
      await giveUp(port);
      expect(await get('shape')).toMatchObject({ ...DONE, stdout: 'round\n' });
      expect(await get('sum')).toMatchObject({ ...DONE, stdout: '1+1=2\n' });
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
      const host = new Program(process.execPath as `/${string}`, ['--input-type=module', '-e', NO_CALL], {
        env: { VERBS_DOCA_API: ofHost },
        cwd: pathOf('programs'),
      });
      expect(await host.outcome()).toMatchObject(DONE);
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
