import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Machine, machineFor } from '../src/index.js';

let machine: Machine;

beforeAll(() => {
  machine = machineFor();
});

afterAll(() => {
  machine.remove();
});

/** Runs a program of the distribution on the machine. */
function run(program: string, ...args: string[]) {
  const env = { ...process.env, ...machine.environment, VERBS_SOFT: 'one;two,ports=2', LC_ALL: 'C' };
  const { status, stdout, stderr, error } = spawnSync(program, args, { env, encoding: 'utf8' });
  if (error) throw error;
  return { status, stdout, stderr };
}

describe('a machine with RDMA devices', () => {
  it('has them for ls and find', () => {
    expect(run('ls', '/sys/class/infiniband', '/dev/infiniband').stdout).toBe(
      '/dev/infiniband:\nrdma_cm\nuverbs0\nuverbs1\n\n/sys/class/infiniband:\none\ntwo\n',
    );
    expect(run('ls', '-l', '/dev/infiniband/uverbs1').stdout).toMatch(/^crw-rw-rw- 1 root +root +231, +193 /);
    expect(run('find', '/dev/infiniband', '-type', 'c', '-name', 'uverbs*').stdout.trim().split('\n').sort()).toEqual([
      '/dev/infiniband/uverbs0',
      '/dev/infiniband/uverbs1',
    ]);
    const ports = run('find', '/sys/class/infiniband/two/ports', '-mindepth', '1', '-maxdepth', '1').stdout;
    expect(ports.trim().split('\n').sort()).toEqual(
      ['1', '2'].map((port) => `/sys/class/infiniband/two/ports/${port}`),
    );
  });

  it('has them for cat, grep and a shell', () => {
    expect(run('cat', '/sys/class/infiniband/one/ports/1/state')).toEqual({
      status: 0,
      stdout: '4: ACTIVE\n',
      stderr: '',
    });
    expect(run('grep', '-r', '-l', 'VERBS_SOFT', '/sys/class/infiniband/one/').stdout).toBe(
      '/sys/class/infiniband/one/board_id\n',
    );
    const script =
      'cd /sys/class/infiniband/one/ports/1 && for file in hw_counters/rcvd_p*; do cat $file; done; pwd -P';
    expect(run('sh', '-c', script).stdout).toBe('0\n/sys/devices/virtual/infiniband/one/ports/1\n');
  });

  it('has them for ibstat and ibv_devinfo', () => {
    const { status, stdout, stderr } = run('ibstat', 'one');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^CA 'one'$/m);
    expect(stdout).toMatch(/^\tCA type: verbs-soft$/m);
    expect(stdout).toMatch(/^\t\tState: Active$/m);
    expect(stdout).toMatch(/^\t\tRate: 100$/m);
    expect(stdout).toMatch(/^\t\tLink layer: Ethernet$/m);
    expect(run('ibv_devinfo', '-v').stdout).toMatch(/GID\[ {2}0\]:\s+::ffff:127\.0\.0\.\d+, RoCE v2/);
  });

  it('refuses to open a node, and says so', () => {
    expect(run('cat', '/dev/infiniband/uverbs0')).toEqual({
      status: 1,
      stdout: '',
      stderr: 'cat: /dev/infiniband/uverbs0: No such device or address\n',
    });
  });

  it('leaves nothing behind', () => {
    const other = machineFor([], { LD_LIBRARY_PATH: '/first', LD_PRELOAD: '' });
    const { LD_LIBRARY_PATH, LD_PRELOAD, VERBS_SOFT_SYSTEM } = other.environment;
    expect(LD_LIBRARY_PATH).toMatch(/:\/first$/);
    expect(readdirSync(VERBS_SOFT_SYSTEM ?? '')).toEqual(['loaded']);
    other.remove();
    expect(existsSync(dirname(LD_PRELOAD ?? ''))).toBe(false);
  });

  it('makes its files once, for all programs with the same devices', () => {
    const trees = () => readdirSync(join(machine.environment['VERBS_SOFT_SYSTEM'] ?? '', 'trees'));
    run('ls', '/sys/class/infiniband');
    const before = trees();
    for (let i = 0; i < 3; i++) run('cat', '/sys/class/infiniband/one/board_id');
    expect(trees()).toEqual(before);
  });

  it('has them for ibstatus, and all entries for ls -la', () => {
    expect(run('ibstatus').stdout).toMatch(
      /^Infiniband device 'one' port 1 status:\n\tdefault gid:\t (0000:){5}ffff:7f00:0001$/m,
    );
    const script = 'cd /sys/class/infiniband/one/ports && ls -la . .. 1 /sys/class/infiniband /dev/infiniband';
    const { status, stdout, stderr } = run('sh', '-c', script);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).not.toMatch(/\?/);
  });

  it('has them for rdma, with the objects and the counters of processes', async () => {
    const rdma = (...args: string[]) => JSON.parse(run('rdma', '-j', ...args).stdout) as Record<string, unknown>[];
    expect(rdma('dev', 'show').map(({ ifname }) => ifname)).toEqual(['one', 'two']);
    expect(rdma('link', 'show')).toMatchObject([
      { ifname: 'one', port: 1, state: 'ACTIVE', physical_state: 'LINK_UP', netdev: 'lo' },
      { ifname: 'two', port: 1 },
      { ifname: 'two', port: 2 },
    ]);
    // ibv_asyncwatch keeps a device open.
    const env = { ...process.env, ...machine.environment, VERBS_SOFT: 'one;two,ports=2' };
    const watch = spawn('ibv_asyncwatch', ['-d', 'one'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      await once(watch.stdout, 'data');
      expect(rdma('resource', 'show')).toMatchObject([
        { ifname: 'one', ctx: 1 },
        { ifname: 'two', ctx: 0 },
      ]);
    } finally {
      watch.kill();
    }
    expect(rdma('statistic', 'show', 'link', 'one/1')).toMatchObject([{ ifname: 'one', port: 1, sent_pkts: 0 }]);
  });

  it.skipIf(process.geteuid?.() !== 0)('leaves what others have called so to them', () => {
    const machine = machineFor();
    const [, where = ''] =
      /^(.*\/verbs-machine-[0-9a-f]{12})-/.exec(machine.environment['VERBS_SOFT_SYSTEM'] ?? '') ?? [];
    machine.remove();
    // Of a process that is not there.
    const folder = `${where}-4194304-1-abcdef`;
    mkdirSync(folder);
    chownSync(folder, 4711, 4711);
    machineFor().remove();
    expect(existsSync(folder)).toBe(true);
    chownSync(folder, 0, 0);
    machineFor().remove();
    expect(existsSync(folder)).toBe(false);
  });

  it('is removed by the next one if its process was killed, but not under a program that uses it', async () => {
    const index = fileURLToPath(new URL('../dist/index.js', import.meta.url));
    const script = `
      import { spawn } from 'node:child_process';
      import { machineFor } from ${JSON.stringify(index)};
      const { environment } = machineFor();
      const child = spawn('sleep', ['60'], { env: { ...process.env, ...environment }, stdio: 'ignore' });
      console.log(environment.VERBS_SOFT_SYSTEM + ' ' + child.pid);
      setInterval(() => {}, 1000);
    `;
    const launcher = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [output] = (await once(launcher.stdout, 'data')) as [Buffer];
    const [folder = '', program] = output.toString().trim().split(' ');
    machineFor().remove();
    expect(existsSync(folder)).toBe(true);
    launcher.kill('SIGKILL');
    await once(launcher, 'exit');
    machineFor().remove();
    expect(existsSync(folder)).toBe(true);
    process.kill(Number(program), 'SIGKILL');
    await expect.poll(() => (machineFor().remove(), existsSync(folder))).toBe(false);
    expect(existsSync(dirname(folder))).toBe(false);
  });
});
