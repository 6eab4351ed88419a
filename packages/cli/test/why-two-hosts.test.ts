// What `verbs why` tells of programs on two hosts, and how those meet whose interfaces have other MTUs.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { describeTwoHosts, type Host } from '../../core/test/shared/two-hosts.js';
import { VERBS } from './verbs.js';

describeTwoHosts(16, (server, client) => {
  function start({ wrap: [program = '', ...rest] }: Host, ...args: string[]) {
    const child = spawn(program, [...rest, process.execPath, VERBS, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NO_COLOR: '1', VERBS_SOFT: 'soft0' },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    const over = once(child, 'close').then(([status]) => ({ status: status as number | null, output }));
    // SIGKILL would leave the program behind, at work.
    onTestFinished(async () => {
      child.kill('SIGTERM');
      await over;
    });
    return { child, over };
  }

  /** A program that listens says so in no common way: the other one tries again. */
  async function meets(host: Host, command: string[], good: RegExp) {
    for (let i = 0; ; i++) {
      const { output } = await start(host, ...command).over;
      if (good.test(output) || i === 20) return output;
      await sleep(200);
    }
  }

  it('names the entry of the GID table that reaches the peer', { timeout: 60_000 }, async () => {
    start(server, 'run', '--', 'ibv_rc_pingpong', '-g', '1');
    const command = ['why', '--', 'ibv_rc_pingpong', '-g', '0', server.ipv4];
    const output = await meets(client, command, /ibv_modify_qp/);
    expect(output).toMatch(
      /ibv_modify_qp of soft0 .*: ENETUNREACH: entry 0 of the GID table \(sgid_index\) does not reach the peer, and entry 1 does$/m,
    );
  });

  it('tells of an address that no route leads to', { timeout: 60_000 }, async () => {
    const { output } = await start(client, 'why', '--', 'rping', '-c', '-a', '203.0.113.9', '-C', '1').over;
    expect(output).toMatch(/rdma_resolve_addr of soft0: ENETUNREACH: the network has no route to the GID of the peer/);
  });

  it.each([
    ['server', server],
    ['client', client],
  ])('the connection manager agrees on what both carry: 700 bytes at the %s', { timeout: 60_000 }, async (_, short) => {
    for (const host of [server, client]) host.ip('link', 'set', 'eth0', 'mtu', host === short ? '700' : '1500');
    start(server, 'run', '--', 'rping', '-s', '-C', '3', '-S', '4000');
    const command = ['run', '--', 'rping', '-c', '-a', server.ipv4, '-C', '3', '-S', '4000', '-v'];
    const output = await meets(client, command, /ping data/);
    expect(output.match(/ping data/g)).toHaveLength(3);
  });

  it('and so does verbs perf', { timeout: 60_000 }, async () => {
    for (const host of [server, client]) host.ip('link', 'set', 'eth0', 'mtu', host === server ? '700' : '1500');
    start(server, 'perf', 'bw', 'write', '--bind', server.ipv4);
    const command = ['perf', 'bw', 'write', server.ipv4, '--size', '4000', '-n', '20'];
    expect(await meets(client, command, /^ *4000 /m)).toMatch(/^ *4000 /m);
  });
});
