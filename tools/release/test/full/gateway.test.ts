// vxlan-gateway between two networks: a namespace with a plain interface, and one with the kernel's own vxlan interface.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { Project } from '../project.js';
import type { Running } from '../running.js';

const PATIENCE = 240_000;
const canRun = process.getuid?.() === 0 && existsSync('/dev/net/tun');
const ID = process.pid % 1_000_000;
const PLAIN = `vgp${ID}`;
const OUTER = `vgo${ID}`;
const OURS = { mac: '02:00:00:00:aa:01', ip: '10.9.0.1' };
const KERNELS = { mac: '02:00:00:00:aa:02', ip: '10.9.0.2' };

const ip = (...args: string[]) => execFileSync('ip', args, { encoding: 'utf8' });

describe.skipIf(!canRun)('vxlan-gateway with TAP interfaces', () => {
  let project: Project;
  let gateway: Running;

  beforeAll(async () => {
    project = new Project(inject('published').registry);
    expect(project.install('@verbs/app-vxlan')).toMatchObject({ code: 0 });
    const devices = [
      ['in', PLAIN],
      ['out', OUTER],
    ].map(([name = '', tap = '']) => `${name},kind=mlx5,switch=${tap},tap=${tap}`);
    const bin = join(project.folder, 'node_modules/.bin/vxlan-gateway');
    const ends = ['--local', OURS.ip, '--remote', KERNELS.ip, '--local-mac', OURS.mac, '--remote-mac', KERNELS.mac];
    gateway = project.start(process.execPath, [bin, 'run', '--plain', 'in', '--outer', 'out', ...ends, '--json'], {
      VERBS_SOFT: devices.join(';'),
    });
    await gateway.until(/forwarding between in and out, VNI 42/);
    for (const name of [PLAIN, OUTER]) {
      ip('netns', 'add', name);
      ip('link', 'set', name, 'netns', name);
    }
    ip('-n', PLAIN, 'addr', 'add', '192.168.77.1/24', 'dev', PLAIN);
    ip('-n', PLAIN, 'link', 'set', PLAIN, 'up');
    ip('-n', OUTER, 'link', 'set', OUTER, 'address', KERNELS.mac, 'up');
    ip('-n', OUTER, 'addr', 'add', `${KERNELS.ip}/24`, 'dev', OUTER);
    ip('-n', OUTER, 'neigh', 'replace', OURS.ip, 'lladdr', OURS.mac, 'dev', OUTER, 'nud', 'permanent');
    const tunnel = ['id', '42', 'dstport', '4789', 'local', KERNELS.ip, 'remote', OURS.ip, 'dev', OUTER];
    ip('-n', OUTER, 'link', 'add', 'vx', 'type', 'vxlan', ...tunnel);
    ip('-n', OUTER, 'addr', 'add', '192.168.77.2/24', 'dev', 'vx');
    ip('-n', OUTER, 'link', 'set', 'vx', 'up');
  }, PATIENCE);
  afterAll(async () => {
    await gateway.kill();
    for (const name of [PLAIN, OUTER]) ip('netns', 'del', name);
    project.remove();
  });

  test(
    'pings go through it and come back',
    async () => {
      const output = ip('netns', 'exec', PLAIN, 'ping', '-c', '5', '-i', '0.2', '-w', '60', '192.168.77.2');
      // With -w, ping waits for five replies: on a loaded machine the last one comes after it has sent a sixth request.
      expect(output).toMatch(/, 5 received/);
      const { code, stdout } = await gateway.kill();
      const counts = JSON.parse(stdout) as { encapsulated: number; decapsulated: number; dropped: number };
      expect([code, counts.dropped]).toEqual([0, 0]);
      // The echo requests and their replies, at least.
      expect(counts.encapsulated).toBeGreaterThanOrEqual(5);
      expect(counts.decapsulated).toBeGreaterThanOrEqual(5);
    },
    PATIENCE,
  );
});
