import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { MINUTE } from './helpers/long.js';
import { foreign, started, type Program } from './helpers/program.js';

const verbs = fileURLToPath(new URL('../../cli/bin/verbs.mjs', import.meta.url));
const binary = fileURLToPath(new URL('../build/bin/comch_program', import.meta.url));
const python = fileURLToPath(new URL('programs/comch.py', import.meta.url));

/** A foreign program by `verbs run`, as a user starts it. */
function run(program: string[], devices?: string): Program {
  const env = { ...process.env, ...(devices !== undefined && { VERBS_SOFT: devices }) };
  return started(spawn(process.execPath, [verbs, 'run', '--', ...program], { env, stdio: ['pipe', 'pipe', 'pipe'] }));
}

const c = (role: string, mode: string, name: string, count: number, wait: string) => [
  binary,
  ...['--role', role, '--mode', mode, '--name', name, '--count', String(count), '--wait', wait],
];

const lossy = ['host', 'dpu']
  .map((role, i) => `doca_${role}0,kind=doca,role=${role},drop=0.02,seed=${i + 7}`)
  .join(';');

describe('a C program with the arguments of libdoca_argp, two processes, every byte compared', () => {
  test.each([
    ['control', 'poll', 5000],
    ['control', 'epoll', 5000],
    ['fast', 'poll', 60],
    ['fast', 'epoll', 60],
  ])(
    '%s, %s',
    async (mode, wait, count) => {
      const server = run(c('server', mode, `${mode}-${wait}`, count, wait));
      await server.says('running');
      const client = run(c('client', mode, `${mode}-${wait}`, count, wait));
      expect([await client.ended, client.output()]).toEqual([
        0,
        expect.stringContaining(`done, ${count} received, 0 lost`),
      ]);
      expect([await server.ended, server.output()]).toEqual([
        0,
        expect.stringContaining(`done, ${count} received, 0 lost`),
      ]);
    },
    MINUTE,
  );

  test.each([
    ['control', 1000],
    ['fast', 20],
  ])(
    '%s, with 2 %% of all packets lost',
    async (mode, count) => {
      const server = run(c('server', mode, `${mode}-lossy`, count, 'epoll'), lossy);
      await server.says('running');
      const client = run(c('client', mode, `${mode}-lossy`, count, 'epoll'), lossy);
      expect([await client.ended, client.output()]).toEqual([
        0,
        expect.stringContaining(`done, ${count} received, 0 lost`),
      ]);
      expect([await server.ended, server.output()]).toEqual([
        0,
        expect.stringContaining(`done, ${count} received, 0 lost`),
      ]);
    },
    MINUTE,
  );
});

describe('kill -9 of one end: the other learns of it within two seconds, and all its tasks come back', () => {
  const cases = ['control', 'fast'].flatMap((mode) =>
    ['poll', 'epoll'].flatMap((wait) => ['server', 'client'].map((killed) => [mode, wait, killed] as const)),
  );
  test.each(cases)(
    '%s, %s, the %s',
    async (mode, wait, killed) => {
      const name = `kill-${mode}-${wait}-${killed}`;
      // Not by `verbs run`: the signal is for the program itself.
      const server = foreign('comch_program', c('server', mode, name, 1e8, wait).slice(1));
      await server.says('running');
      const client = foreign('comch_program', c('client', mode, name, 1e8, wait).slice(1));
      await client.says('running');
      await new Promise((resolve) => setTimeout(resolve, 300));
      const [victim, other] = killed === 'server' ? [server, client] : [client, server];
      victim.child.kill('SIGKILL');
      const since = Date.now();
      expect([await other.ended, other.output()]).toEqual([3, expect.stringMatching(/^ended, \d+ received/m)]);
      expect(Date.now() - since).toBeLessThan(5000);
    },
    MINUTE,
  );
});

test(
  'Python by ctypes, with an epoll loop',
  async () => {
    const server = run(['/usr/bin/python3', python, 'server', 'python']);
    await server.says('running');
    const client = run(['/usr/bin/python3', python, 'client', 'python', '500']);
    expect([await client.ended, client.output()]).toEqual([0, expect.stringContaining('done, 500 received')]);
    expect([await server.ended, server.output()]).toEqual([0, expect.stringContaining('done, 500 received')]);
  },
  MINUTE,
);

test(
  'a client without a server ends, and says so',
  async () => {
    const client = run(c('client', 'control', 'nobody', 1, 'epoll'));
    expect([await client.ended, client.output()]).toEqual([1, expect.stringContaining('no connection')]);
  },
  MINUTE,
);
