// Two hosts: two network namespaces, at the ends of an Ethernet of 1500 bytes. Making them takes root.
import { execFileSync, spawnSync } from 'node:child_process';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe } from 'vitest';

export interface Host {
  /** The words in front of a command that runs there. */
  wrap: string[];
  ipv4: string;
  ipv6: string;
  /** Its Ethernet is `eth0`. */
  ip: (...args: string[]) => string;
}

const ip = (...args: string[]) => execFileSync('ip', args, { encoding: 'utf8' });

function hostOf(namespace: string, network: number, number: number): Host {
  return {
    wrap: ['ip', 'netns', 'exec', namespace],
    ipv4: `10.213.${network}.${number}`,
    ipv6: `fd00:213:${network}::${number}`,
    ip: (...args) => ip('-n', namespace, ...args),
  };
}

/**
 * Tests on two hosts, which are there while they run. They are skipped, with the reason in their title, where nobody can
 * make hosts. `network`: the third number of the addresses, for each file another one.
 */
export function describeTwoHosts(network: number, tests: (server: Host, client: Host) => void): void {
  const names = ['s', 'c'].map((end) => `verbs-${process.pid}-${network}-${end}`);
  const [first = '', second = ''] = names;
  const server = hostOf(first, network, 1);
  const client = hostOf(second, network, 2);
  const made = spawnSync('ip', ['netns', 'add', first], { encoding: 'utf8' });
  const reason = made.error?.message ?? (made.status === 0 ? undefined : made.stderr.trim());
  // It only shows whether that can be: no test of the file may be wanted.
  if (reason === undefined) ip('netns', 'del', first);
  describe.skipIf(reason !== undefined)(`two hosts${reason === undefined ? '' : ` (skipped: ${reason})`}`, () => {
    beforeAll(async () => {
      for (const name of names) ip('netns', 'add', name);
      server.ip('link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'eth0', 'netns', second);
      for (const host of [server, client]) {
        host.ip('addr', 'add', `${host.ipv4}/24`, 'dev', 'eth0');
        host.ip('addr', 'add', `${host.ipv6}/64`, 'dev', 'eth0', 'nodad');
        for (const name of ['lo', 'eth0']) host.ip('link', 'set', name, 'up');
      }
      while (![server, client].every((host) => host.ip('link', 'show', 'eth0').includes(',LOWER_UP'))) await sleep(10);
    });
    afterAll(() => {
      // The Ethernet goes with its ends.
      for (const name of names) spawnSync('ip', ['netns', 'del', name]);
    });
    tests(server, client);
  });
}
