// Two hosts with nothing configured: two network namespaces, at the ends of an Ethernet of 1500 bytes.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { programPath } from '../helpers/program.js';

const hosts = ['s', 'c'].map((name, i) => ({
  namespace: `verbs-hosts-${process.pid}-${name}`,
  ipv4: `10.213.10.${i + 1}`,
  ipv6: `fd00:213:10::${i + 1}`,
}));
const [server, client] = hosts as [(typeof hosts)[0], (typeof hosts)[0]];
const ip = (...args: string[]) => execFileSync('ip', args, { stdio: 'pipe' });

/** Making a network namespace takes root; the reason is undefined where it works. */
function whyNot(): string | undefined {
  const made = spawnSync('ip', ['netns', 'add', server.namespace], { encoding: 'utf8' });
  if (made.error !== undefined) return made.error.message;
  return made.status === 0 ? undefined : made.stderr.trim();
}

const reason = whyNot();

describe.skipIf(reason !== undefined)(`two hosts${reason === undefined ? '' : ` (skipped: ${reason})`}`, () => {
  beforeAll(async () => {
    ip('netns', 'add', client.namespace);
    ip(
      '-n',
      server.namespace,
      'link',
      'add',
      'eth0',
      'type',
      'veth',
      'peer',
      'name',
      'eth0',
      'netns',
      client.namespace,
    );
    for (const { namespace, ipv4, ipv6 } of hosts) {
      ip('-n', namespace, 'addr', 'add', `${ipv4}/24`, 'dev', 'eth0');
      ip('-n', namespace, 'addr', 'add', `${ipv6}/64`, 'dev', 'eth0', 'nodad');
      for (const name of ['lo', 'eth0']) ip('-n', namespace, 'link', 'set', name, 'up');
    }
    await sleep(100); // until the Ethernet has its carrier
  });

  afterAll(() => {
    for (const { namespace } of hosts) spawnSync('ip', ['netns', 'del', namespace]);
  });

  it.each([
    ['IPv4', server.ipv4, `::ffff:${server.ipv4}`],
    ['IPv6', server.ipv6, server.ipv6],
  ])('meet by the address that they dial: %s', async (_, host, gid) => {
    const env = { ...process.env, VERBS_SOFT: 'soft0' };
    const start = ({ namespace }: { namespace: string }, ...args: string[]) =>
      spawn('ip', ['netns', 'exec', namespace, process.execPath, programPath('two-hosts.mjs'), ...args], {
        stdio: ['ignore', 'pipe', 'inherit'],
        env,
      });
    const waiting = start(server, 'server');
    const over = once(waiting, 'close');
    try {
      const ports = String(((await once(waiting.stdout, 'data')) as [Buffer])[0])
        .trim()
        .split(' ');
      const dialing = start(client, 'client', host, ...ports);
      let printed = '';
      dialing.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
      const [status] = (await once(dialing, 'close')) as [number];
      expect([status, printed]).toEqual([0, `there and back ${gid}\nall came back\n`]);
      expect(await over).toEqual([0, null]);
    } finally {
      waiting.kill('SIGKILL');
    }
  });
});
