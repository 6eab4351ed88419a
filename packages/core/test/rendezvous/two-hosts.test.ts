// Two hosts with nothing configured.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { programPath, type Ended } from '../helpers/program.js';
import { describeTwoHosts, type Host } from '../shared/two-hosts.js';

function start({ wrap: [program = '', ...rest] }: Host, name: string, ...args: string[]) {
  const child = spawn(program, [...rest, process.execPath, programPath(name), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, VERBS_SOFT: 'soft0' },
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const ended: Omit<Ended, 'signal'> = { code: null, stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (ended.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (ended.stderr += text));
  const over = once(child, 'close').then(([code]) => ({ ...ended, code: code as number | null }));
  return { child, over };
}

describeTwoHosts(10, (server, client) => {
  it.each([
    ['IPv4', server.ipv4, `::ffff:${server.ipv4}`],
    ['IPv6', server.ipv6, server.ipv6],
  ])('meet by the address that they dial: %s', async (_, host, gid) => {
    const waiting = start(server, 'two-hosts.mjs', 'server');
    const [text] = (await once(waiting.child.stdout, 'data')) as [string];
    const dialing = start(client, 'two-hosts.mjs', 'client', host, ...text.trim().split(' '));
    const stdout = `there and back ${gid}\nall came back\n`;
    expect(await dialing.over).toEqual({ code: 0, stdout, stderr: '' });
    expect(await waiting.over).toEqual({ code: 0, stdout: text, stderr: '' });
  });

  it('receive a datagram before they know of any peer', async () => {
    const waiting = start(server, 'first-datagram.mjs', 'server');
    const [text] = (await once(waiting.child.stdout, 'data')) as [string];
    expect(text).toMatch(new RegExp(`^::ffff:${server.ipv4} \\d+\n$`));
    const sending = start(client, 'first-datagram.mjs', 'client', ...text.trim().split(' '));
    expect(await sending.over).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(await waiting.over).toEqual({ code: 0, stdout: `${text}the first one\n`, stderr: '' });
  });

  it('hear a message to a group once each, and answer it', async () => {
    const waiting = start(server, 'group.mjs', 'member');
    await once(waiting.child.stdout, 'data');
    const sending = start(client, 'group.mjs', 'sender');
    expect(await sending.over).toEqual({ code: 0, stdout: 'good morning\ngood morning to you, too\n', stderr: '' });
    expect(await waiting.over).toEqual({ code: 0, stdout: 'ready\n', stderr: '' });
  });

  it('have a GID table that follows the host, and bind an address when it is used', async () => {
    const { over } = start(client, 'host-addresses.mjs', server.ipv4);
    const { code, stdout, stderr } = await over;
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toEqual({
      table: ['::ffff:127.0.0.1', `::ffff:${client.ipv4}`, client.ipv6],
      unused: ['127.0.0.1'],
      used: [client.ipv4, '127.0.0.1'],
      // Longer than the Ethernet carries, though not than the port says.
      long: 'WC_LOC_LEN_ERR',
      mtu: 'MTU_4096',
      come: ['GID_CHANGE', true],
      gone: ['GID_CHANGE', false],
    });
  });
});

describeTwoHosts(15, (server, client) => {
  it('are told which address reaches the other one, and who holds an address', async () => {
    const { code, stdout, stderr } = await start(client, 'wrong-gid.mjs', server.ipv4).over;
    expect([code, stderr]).toEqual([0, '']);
    const [own, there] = [`::ffff:${client.ipv4}`, `::ffff:${server.ipv4}`];
    const other = `GID 0 (::ffff:127.0.0.1), a loopback address, does not reach ${there}, and GID 1 (${own}) does: give sgidIndex 1`;
    const [connect, ah, held, free] = stdout.split('\n');
    expect(connect).toMatch(/^ENETUNREACH: .*ibv_modify_qp/);
    expect(connect).toContain(other);
    expect(ah).toMatch(/^ENETUNREACH: .*ibv_create_ah/);
    expect(ah).toContain(other);
    expect(held).toMatch(/^EADDRINUSE: .*ibv_modify_qp/);
    expect(held).toMatch(/UDP port 4791 at ::ffff:[\d.]+, GID 1 of port 1, is held by process \d+ \(.+\): end that/);
    expect(free).toBe('no error');
  });
});

describeTwoHosts(14, (server, client) => {
  it.each([
    ['server', server],
    ['client', client],
  ])("meet where the %s's interface takes shorter packets than the peer's", async (_, short) => {
    for (const host of [server, client]) host.ip('link', 'set', 'eth0', 'mtu', host === short ? '700' : '1500');
    const waiting = start(server, 'two-hosts.mjs', 'server');
    const [text] = (await once(waiting.child.stdout, 'data')) as [string];
    const dialing = start(client, 'two-hosts.mjs', 'client', server.ipv4, ...text.trim().split(' '));
    const stdout = `there and back ::ffff:${server.ipv4}\nall came back\n`;
    expect(await dialing.over).toEqual({ code: 0, stdout, stderr: '' });
    expect(await waiting.over).toEqual({ code: 0, stdout: text, stderr: '' });
  });
});
