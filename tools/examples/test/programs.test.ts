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
      const [, qpn, gid] = await server.until(/node ud-service\.mjs (\d+) (\S+) TEXT/);
      for (const text of ['one', 'two']) {
        const client = await run('ud-service', qpn ?? '', gid ?? '', text);
        expect(client).toMatchObject({ ...DONE, stdout: `${text.toUpperCase()}\n` });
      }
    } finally {
      server.process.kill();
      await server.outcome();
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
