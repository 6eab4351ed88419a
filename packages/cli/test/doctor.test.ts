import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { LibraryReport } from '@verbs/core';
import type { ProcessReport } from '@verbs/soft';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Finding } from '../src/doctor/finding.js';
import { checkKernel } from '../src/doctor/kernel.js';
import { checkLimits } from '../src/doctor/limits.js';
import { checkPeers } from '../src/doctor/peers.js';
import { checkPort } from '../src/doctor/port.js';
import { System } from '../src/doctor/system.js';
import { checkVendor } from '../src/doctor/vendors.js';
import { verbs } from './verbs.js';

/** A machine that is made of files. */
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'verbs-doctor-'));
});

afterEach(() => {
  rmSync(root, { recursive: true });
});

function put(path: string, text = ''): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

const byTopic = (findings: Finding[], topic: string) => findings.find((finding) => finding.topic === topic);

const HEAD =
  '   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops\n';
const udpLine = (address: string, port: string, inode: number) =>
  ` 1042: ${address}:${port} 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 ${inode} 2 0000000000000000 0\n`;

describe('the RoCE port', () => {
  const port = () => checkPort(new System(root))[0];

  it('is free', () => {
    put('/proc/net/udp', HEAD + udpLine('0100007F', '0035', 17));
    expect(port()).toMatchObject({ level: 'ok', text: 'free' });
  });

  it('is held for all addresses by the kernel', () => {
    put('/proc/net/udp', HEAD + udpLine('00000000', '12B7', 0));
    expect(port()).toMatchObject({ level: 'fail', text: expect.stringContaining('rdma_rxe') as string });
  });

  it('is held for all addresses by the kernel, whose sockets have inodes as those of processes', () => {
    put('/proc/net/udp', HEAD + udpLine('00000000', '12B7', 8123));
    const other = 'held for all addresses by a process of another user';
    expect(port()).toMatchObject({ level: 'fail', text: other });
    mkdirSync(join(root, '/sys/module/rdma_rxe'), { recursive: true });
    expect(port()).toMatchObject({ level: 'fail', text: expect.stringContaining('the kernel') as string });
  });

  it('is held for all addresses by a process', () => {
    put('/proc/net/udp6', HEAD + udpLine('0'.repeat(32), '12B7', 4242));
    put('/proc/77/comm', 'holder\n');
    mkdirSync(join(root, '/proc/77/fd'));
    symlinkSync('socket:[4242]', join(root, '/proc/77/fd/9'));
    expect(port()).toMatchObject({ level: 'fail', text: 'held for all addresses by holder (process 77)' });
  });

  it('is in use on some addresses, which leaves others', () => {
    put('/proc/net/udp', HEAD + udpLine('0100007F', '12B7', 1));
    put('/proc/net/udp6', HEAD + udpLine('B80D0120000000000000000001000000', '12B7', 2));
    expect(port()).toMatchObject({
      level: 'ok',
      text: 'in use on 127.0.0.1 by a process of another user, 2001:db8::1 by a process of another user, open to other hosts; other addresses are free',
    });
  });
});

describe('the kernel', () => {
  it('has no RDMA at all', () => {
    const findings = checkKernel(new System(root));
    expect(findings.map(({ level }) => level)).toEqual(['warn', 'warn', 'warn']);
    for (const { help } of findings) expect(help).toBeTruthy();
  });

  it('has a driver and a device', () => {
    for (const name of ['ib_core', 'ib_uverbs', 'rdma_rxe'])
      mkdirSync(join(root, '/sys/module', name), { recursive: true });
    mkdirSync(join(root, '/sys/class/infiniband/rxe0'), { recursive: true });
    put('/dev/infiniband/uverbs0');
    expect(checkKernel(new System(root)).map(({ level }) => level)).toEqual(['ok', 'ok', 'ok']);
  });

  it('has a device whose file is not in this container', () => {
    mkdirSync(join(root, '/sys/class/infiniband/mlx5_0'), { recursive: true });
    const finding = byTopic(checkKernel(new System(root)), 'device files');
    expect(finding).toMatchObject({
      level: 'warn',
      help: expect.stringContaining('--device=/dev/infiniband') as string,
    });
  });
});

describe('the limits', () => {
  const limits = (topic: string) => byTopic(checkLimits(new System(root)), topic);

  it('warns of small socket buffers that may not be exceeded', () => {
    put('/proc/sys/net/core/rmem_max', '212992\n');
    put('/proc/self/status', 'CapEff:\t0000000000000000\n');
    expect(limits('net.core.rmem_max')).toMatchObject({
      level: 'warn',
      help: expect.stringContaining('sysctl') as string,
    });
    put('/proc/self/status', 'CapEff:\t0000000000001000\n');
    expect(limits('net.core.rmem_max')).toMatchObject({ level: 'ok' });
    put('/proc/sys/net/core/rmem_max', '8388608\n');
    put('/proc/self/status', 'CapEff:\t0000000000000000\n');
    expect(limits('net.core.rmem_max')).toMatchObject({ level: 'ok' });
  });

  it('warns of locked memory only where hardware needs it', () => {
    put('/proc/self/limits', 'Max locked memory         8388608              8388608              bytes\n');
    expect(limits('locked memory')).toMatchObject({
      level: 'ok',
      text: expect.stringContaining('ulimit -l 8192') as string,
    });
    mkdirSync(join(root, '/sys/class/infiniband/mlx5_0'), { recursive: true });
    expect(limits('locked memory')).toMatchObject({ level: 'warn' });
  });
});

describe('the peers', () => {
  it('are told of with the reason, whether their packets came to a queue pair or not', () => {
    const dropped = { place: 'arrival', peerGid: '::ffff:192.0.2.7', help: 'give it another' };
    const reasons = [
      { ...dropped, qpNum: 0x12, reason: 'drop_qkey', text: 'the datagram has the Q_Key 0x2222' },
      { ...dropped, reason: 'drop_unknown_qp', text: 'no queue pair here has the number 0x13' },
    ];
    const all = [{ pid: 7, name: 'ud.mjs', program: 'node', devices: [{ reasons }] }] as unknown as ProcessReport[];
    expect(checkPeers(all).map(({ text }) => text)).toEqual(
      reasons.map(({ text }) => `packets from 192.0.2.7 were dropped: ${text}`),
    );
  });
});

describe("a vendor's library", () => {
  const about = { name: 'libhbl', hardware: 'a Gaudi', devices: 'hbl_', text: 'cannot open it', remedy: 'install it' };
  const libibverbs: LibraryReport = { kind: 'system', devices: [], release: 'rdma-core 44.0' };

  it('is needed where the kernel has a device of it', () => {
    expect(checkVendor(about, new System(root), undefined)).toEqual({
      topic: 'libhbl',
      level: 'ok',
      text: 'not here: needed for a Gaudi only',
    });
    mkdirSync(join(root, '/sys/class/infiniband/hbl_0'), { recursive: true });
    expect(checkVendor(about, new System(root), undefined)).toEqual({
      topic: 'libhbl',
      level: 'warn',
      text: 'cannot open it; needed for hbl_0',
      help: 'install it',
    });
  });

  it('must be of the same release as libibverbs', () => {
    const { hardware } = about;
    const found = { name: 'libmlx5', hardware, devices: 'mlx5_', file: '/lib/libmlx5.so.1.25.61.0', text: '' };
    const check = (release: string) => checkVendor({ ...found, release }, new System(root), libibverbs);
    expect(check('rdma-core 44.0')).toMatchObject({ level: 'ok', text: 'rdma-core 44.0 (/lib/libmlx5.so.1.25.61.0)' });
    expect(check('rdma-core 61.0')).toMatchObject({
      level: 'warn',
      text: 'rdma-core 61.0 (/lib/libmlx5.so.1.25.61.0); libibverbs is of rdma-core 44.0',
    });
  });
});

describe('verbs doctor', () => {
  it('finds the software NIC usable and says so', async () => {
    const { status, stdout } = await verbs(['doctor', '--json'], { VERBS_SOFT: 'soft0,addr=127.77.2.1' });
    const { usable, findings } = JSON.parse(stdout) as { usable: boolean; findings: Finding[] };
    expect(usable).toBe(true);
    expect(status).toBe(0);
    expect(byTopic(findings, '@verbs/core')?.text).toMatch(/^\d+\.\d+\.\d+, native part .*verbs_core\.node$/);
    expect(byTopic(findings, 'Node.js')?.text).toMatch(/^\d+\.\d+\.\d+, linux \w+ (glibc|musl)$/);
    expect(byTopic(findings, 'software NIC')).toMatchObject({ level: 'ok' });
    expect(byTopic(findings, 'device soft0')?.text).toMatch(/PORT_ACTIVE, MTU 4096, GID 0 ::ffff:127\.77\.2\.1/);
    expect(byTopic(findings, 'verdict')).toMatchObject({ level: 'ok' });
    for (const { level, help } of findings) expect(level === 'ok' || help !== undefined).toBe(true);
  });

  it("names the vendors' libraries, their releases and what follows", async () => {
    const library = (name: string, source: string, ...options: string[]) => {
      const file = join(root, name);
      mkdirSync(dirname(file), { recursive: true });
      execFileSync('cc', ['-shared', '-fPIC', '-x', 'c', '-o', file, '-', ...options], { input: source });
      return file;
    };
    library('mlx5/libmlx5.so.1.25.61.0', '_Bool mlx5dv_is_supported(void *device) { return device == 0; }');
    symlinkSync('libmlx5.so.1.25.61.0', join(root, 'mlx5/libmlx5.so.1'));
    library('sdk/libhbl.so', `#include "${join(import.meta.dirname, '../../hbl/test/programs/libhbl.c')}"`, '-DSDK');
    library('doca/libdoca_common.so.2', 'const char *doca_version_runtime(void) { return "3.1.0105"; }');
    library('doca/libdoca_comch.so.2', 'int nothing(void) { return 0; }');
    const { stdout } = await verbs(['doctor', '--json'], {
      VERBS_SOFT: 'soft0,addr=127.77.2.3',
      LD_LIBRARY_PATH: join(root, 'mlx5'),
      RDMA_CORE_LIB: join(root, 'sdk'),
      VERBS_DOCA_LIBRARY_DIR: join(root, 'doca'),
    });
    const { findings } = JSON.parse(stdout) as { findings: Finding[] };
    expect(byTopic(findings, 'libmlx5')?.text).toMatch(
      /^rdma-core 61\.0 \(.*\/mlx5\/libmlx5\.so\.1\.25\.61\.0\): its mlx5dv_create_flow walks actions in steps of 24 bytes/,
    );
    expect(byTopic(findings, 'libhbl')).toMatchObject({
      level: 'ok',
      text: expect.stringMatching(
        /\/sdk\/libhbl\.so\): of the Gaudi SDK: with collectives and migration, but without ordinary verbs of its own/,
      ) as string,
    });
    expect(byTopic(findings, 'DOCA')).toMatchObject({
      level: 'warn',
      text: expect.stringMatching(
        /^DOCA 3\.1\.0105 \(.*\/libdoca_common\.so\.2\): it has neither Comch nor a Comm Channel that can be used: .* has no function doca_/,
      ) as string,
      help: expect.stringMatching(/^install that part of it .*doca-sdk-comch/) as string,
    });
    expect(byTopic(findings, 'kernel modules')?.text).toMatch(/^Linux \d+\.\d+/);
  });

  it('prints a line for each finding', async () => {
    const { status, stdout } = await verbs(['doctor'], { VERBS_SOFT: 'away,addr=192.0.2.1;here,addr=127.77.2.2' });
    for (const topic of ['kernel modules', 'libibverbs', 'UDP port 4791', 'verdict']) {
      expect(stdout).toMatch(new RegExp(`^(ok  |warn|FAIL) ${topic}: `, 'm'));
    }
    // Programs take the first device, also one that cannot be opened.
    expect(stdout).toMatch(/^warn verdict: programs that name no device get away, .*\n.*openDevice\('here'\)/m);
    expect(status).toBe(0);
  });

  it('leaves with 1 if the configuration is wrong', async () => {
    const { status, stdout } = await verbs(['doctor'], { VERBS_SOFT: 'soft0,nonsense=1' });
    expect(stdout).toMatch(/^FAIL VERBS_SOFT: .*nonsense/m);
    expect(status).toBe(1);
  });
});
