import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { dirname } from 'node:path';
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
    expect(readdirSync(VERBS_SOFT_SYSTEM ?? '')).toEqual([]);
    other.remove();
    expect(existsSync(dirname(LD_PRELOAD ?? ''))).toBe(false);
  });

  it('a program that exits takes its files along', () => {
    const before = readdirSync(machine.environment['VERBS_SOFT_SYSTEM'] ?? '');
    run('ls', '/sys/class/infiniband');
    expect(readdirSync(machine.environment['VERBS_SOFT_SYSTEM'] ?? '')).toEqual(before);
  });
});
