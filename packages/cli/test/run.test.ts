import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describeTwoHosts } from '../../core/test/shared/two-hosts.js';
import { VERBS, Verbs, verbs } from './verbs.js';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'verbs-run-'));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
const node = (script: string): string[] => ['--', process.execPath, '-e', script];
const showEnvironment = node('console.log(JSON.stringify([process.env.LD_LIBRARY_PATH, process.env.VERBS_SOFT]))');

describe('verbs run', () => {
  it("runs Debian's ibv_devices on the software NIC", async () => {
    const { status, stdout } = await verbs(['run', '--device', 'blue', '--', 'ibv_devices']);
    expect(stdout).toMatch(/^ {4}blue {12}\t[0-9a-f]{16}$/m);
    expect(status).toBe(0);
  });

  it("gives an unmodified program a vendor's device, by the model of an installed package", async () => {
    const { status, stdout } = await verbs(['run', '--device', 'hbl_0,kind=hbl,ports=2', '--', 'ibv_devinfo']);
    expect(stdout).toMatch(/hca_id:\s+hbl_0\n/);
    expect(stdout).toMatch(/board_id:\s+VERBS_SOFT_HBL\n/);
    expect(stdout).toMatch(/phys_port_cnt:\s+2\n/);
    expect(status).toBe(0);
  });

  it("has its faults and its capture on the devices that a vendor's library adds by itself", async () => {
    const file = join(directory, 'channel.pcapng');
    const connect = node(`
      const { Endpoint, openDevice, openRepresentor } = require('@verbs/doca-comm');
      const device = openDevice('doca_dpu0');
      const service = new Endpoint({ device, deviceRep: openRepresentor(device, '5f5f:3b:00.0') });
      const client = new Endpoint({ device: openDevice('doca_host0') });
      service.listen('captured');
      try {
        client.connect('captured');
        console.log('connected');
      } catch (error) {
        console.log(error.code);
      }
      client.close();
      service.close();
    `);
    const whole = await verbs(['run', '--capture', file, ...connect]);
    expect(whole).toMatchObject({ status: 0, stdout: 'connected\n' });
    expect(readFileSync(file).includes('doca_host0')).toBe(true);
    const lossy = await verbs(['run', '--faults', 'drop=1', ...connect]);
    expect(lossy).toMatchObject({ status: 0, stdout: 'DOCA_ERROR_CONNECTION_ABORTED\n' });
  });

  it('makes the files of its devices once, before the program', async () => {
    const { stdout } = await verbs(['run', '--device', 'blue', '--', 'sh', '-c', 'ls $VERBS_SOFT_SYSTEM/trees']);
    expect(stdout).toMatch(/^[0-9a-f]{16}\n$/);
  });

  it('killed, it leaves nothing that the next one does not remove', async () => {
    const env = { TMPDIR: directory };
    const killed = new Verbs(['run', '--', 'sh', '-c', 'echo $$; sleep 60'], env);
    const program = Number((await killed.until(/\d+/))[0]);
    killed.process.kill('SIGKILL');
    // The programs hold its output open.
    for (const pid of [...childrenOf(program), program]) process.kill(pid, 'SIGKILL');
    await killed.outcome();
    expect(readdirSync(directory)).toHaveLength(1);
    await expect.poll(async () => (await verbs(['run', '--', 'true'], env), readdirSync(directory))).toEqual([]);
  });

  it('tells of a program that had another libibverbs, and of no other', async () => {
    const hidden = await verbs(['run', '--', 'env', '-i', 'ibv_devices']);
    expect(hidden.stderr).toMatch(
      /^verbs: ibv_devices did not ask the software NIC for devices\. .*DT_RPATH.*env -i.*set-user-ID/m,
    );
    const ours = await verbs(['run', '--', 'env', 'A=1', 'ibv_devices']);
    expect(ours.stderr).not.toContain('did not ask');
    expect((await verbs(['run', '--', 'false'])).stderr).toBe('');
  });

  it('runs a program with AddressSanitizer, which wants to be first', { timeout: 60_000 }, async () => {
    const program = join(directory, 'sanitized');
    const source =
      '#include <infiniband/verbs.h>\nint main(void) { int n = 0; return !ibv_get_device_list(&n) || n != 1; }\n';
    execFileSync('cc', ['-fsanitize=address', '-x', 'c', '-o', program, '-', '-libverbs'], { input: source });
    const env = { ASAN_OPTIONS: 'detect_leaks=0' };
    expect(await verbs(['run', '--device', 'blue', '--', program], env)).toMatchObject({ status: 0, stderr: '' });
  });

  it('says what its devices lack, and leaves the arguments of the program alone', async () => {
    const pipe = join(directory, 'pipe');
    execFileSync('mkfifo', [pipe]);
    spawn('sh', ['-c', 'echo hi > "$0"', pipe]);
    const { status, stdout, stderr } = await verbs(['run', '--device', 'x,kind=nosuch', '--', 'cat', pipe]);
    expect([status, stdout]).toEqual([0, 'hi\n']);
    expect(stderr).toMatch(/^verbs: x is left out: no model of kind nosuch is loaded; .*\n$/);
  });

  it('with --show, has the status of a program without packets, and says which folder it lacks', async () => {
    const failed = await verbs(['run', '--show', '--', 'sh', '-c', 'exit 7']);
    expect(failed).toMatchObject({
      status: 7,
      stderr: expect.stringMatching(/^verbs: nothing was captured.*\n$/) as string,
    });
    const missing = await verbs(['run', '--show', '--', 'true'], { TMPDIR: join(directory, 'missing') });
    expect([missing.status, missing.stderr]).toMatchObject([1, expect.stringContaining('set TMPDIR to a folder')]);
  });

  it('has another place for its files where TMPDIR is none', async () => {
    const odd = join(directory, 'a b:c');
    mkdirSync(odd);
    for (const TMPDIR of [odd, join(directory, 'missing')]) {
      const { status, stdout } = await verbs(['run', '--device', 'blue', '--', 'ibv_devices'], { TMPDIR });
      expect([status, stdout]).toEqual([0, expect.stringContaining('blue')]);
    }
    const TMPDIR = relative(process.cwd(), directory);
    const moved = await verbs(['run', '--device', 'blue', '--', 'sh', '-c', 'cd / && ibv_devices'], { TMPDIR });
    expect([moved.stderr, moved.stdout]).toEqual(['', expect.stringContaining('blue')]);
  });

  it('works without -- and leaves options behind the program to it', async () => {
    const { stdout } = await verbs(['run', '--device', 'blue', 'ibv_devinfo', '-l']);
    expect(stdout).toBe('1 HCA found:\n\tblue\n\n');
  });

  it('puts the drop-in library first and keeps the path that there was', async () => {
    const { stdout } = await verbs(['run', ...showEnvironment], { LD_LIBRARY_PATH: '/opt/a:/opt/b', VERBS_SOFT: '' });
    const [path, configuration] = JSON.parse(stdout) as [string, string];
    expect(path).toMatch(/^\/[^:]+:\/opt\/a:\/opt\/b$/);
    expect(configuration).toBe('soft0');
    const without = await verbs(['run', ...showEnvironment], { LD_LIBRARY_PATH: '' });
    expect((JSON.parse(without.stdout) as [string])[0]).not.toContain(':');
  });

  it.each([
    [undefined, ['--device', 'red', '--device', 'blue,mtu=1024'], 'red;blue,mtu=1024'],
    ['red;blue', ['--faults', 'drop=0.5,seed=3'], 'red;blue;*,drop=0.5,seed=3'],
    ['red', ['--faults', 'fault=drop:opcode=rc_send_only:nth=3'], 'red;*,fault=drop:opcode=rc_send_only:nth=3'],
    ['red', ['--device', 'blue'], 'blue'],
  ])('VERBS_SOFT %s with %j becomes %s', async (inherited, options, expected) => {
    const { stdout } = await verbs(['run', ...options, ...showEnvironment], { VERBS_SOFT: inherited });
    expect((JSON.parse(stdout) as string[])[1]).toBe(expected);
  });

  it('takes the devices of a configuration file', async () => {
    const file = join(directory, 'nic.conf');
    writeFileSync(file, '# two devices\nred,mtu=1024 # the first\nblue\n');
    const { stdout } = await verbs(['run', '--faults', 'drop=0.1', ...showEnvironment], { VERBS_SOFT: file });
    expect((JSON.parse(stdout) as string[])[1]).toBe('red,mtu=1024;blue;*,drop=0.1');
    const missing = await verbs(['run', ...showEnvironment], { VERBS_SOFT: join(directory, 'none') });
    expect(missing.stderr).toMatch(/VERBS_SOFT names the file .*none: no such file/);
    expect(missing.status).toBe(1);
  });

  it.each([
    [['--device', 'soft0,mtu=5'], /soft0.*mtu.*5/],
    [['--faults', 'drop=2'], /drop.*2/],
    [['--faults', 'fault=drop:nth=0'], /nth=0/],
  ])('refuses %j before the program runs', async (options, message) => {
    const { status, stdout, stderr } = await verbs(['run', ...options, ...showEnvironment]);
    expect(stderr).toMatch(message);
    expect(stdout).toBe('');
    expect(status).toBe(2);
  });

  it.each([0, 1, 2, 42])('passes on the exit status %i', async (status) => {
    expect(await verbs(['run', ...node(`process.exit(${status})`)])).toMatchObject({ status, stderr: '' });
  });

  it('is 128 + n for a program that a signal ended', async () => {
    expect(await verbs(['run', ...node('process.kill(process.pid, "SIGKILL")')])).toMatchObject({ status: 137 });
    expect(await verbs(['run', ...node('process.kill(process.pid, "SIGTERM")')])).toMatchObject({ status: 143 });
  });

  it('is 127 for a program that is not there and 126 for one that is none', async () => {
    const missing = await verbs(['run', '--', 'no-such-program']);
    expect(missing).toMatchObject({ status: 127 });
    expect(missing.stderr).toContain('no-such-program: command not found');
    const file = join(directory, 'data');
    writeFileSync(file, 'data');
    const refused = await verbs(['run', '--', file]);
    expect(refused).toMatchObject({ status: 126 });
    expect(refused.stderr).toContain('cannot be executed');
    // Node.js throws this one at once.
    const inside = await verbs(['run', '--', join(file, 'program')]);
    expect(inside).toMatchObject({ status: 126 });
    expect(inside.stderr).toContain('cannot be started');
  });

  it('has the status of a program that empties the folders for temporary files', async () => {
    const script = 'rm -f "$VERBS_SOFT_SYSTEM/loaded"; exit 3';
    expect(await verbs(['run', '--', 'sh', '-c', script])).toMatchObject({ status: 3, stderr: '' });
  });

  it('passes on arguments as they are', async () => {
    const args = ['a b', '', '--json', '--', '-h'];
    const { stdout } = await verbs([
      'run',
      ...node('console.log(JSON.stringify(process.argv.slice(1)))'),
      '--',
      ...args,
    ]);
    expect(JSON.parse(stdout)).toEqual(args);
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'] as const)(
    'passes on %s and waits for the program',
    async (signal) => {
      const run = new Verbs([
        'run',
        ...node(`
      process.on('${signal}', () => { console.log('caught'); process.exit(7); });
      setInterval(() => {}, 1000);
      console.log('ready');
    `),
      ]);
      await run.until(/ready/);
      run.kill(signal);
      expect(await run.outcome()).toMatchObject({ status: 7, signal: null, stdout: 'ready\ncaught\n' });
    },
  );

  it('passes on standard input', async () => {
    const child = new Verbs(['run', ...node('process.stdin.on("data", () => {}).on("end", () => console.log("end"))')]);
    expect(await child.outcome()).toMatchObject({ status: 0, stdout: 'end\n' });
  });
});

// It would take the loopback address of the GID table, which leads to no other host.
describeTwoHosts(12, (host) => {
  const indices = (wrap: readonly string[], env: NodeJS.ProcessEnv, options: readonly string[] = []) => {
    const script = 'console.log(process.env.UCX_IB_GID_INDEX, process.env.FI_VERBS_GID_IDX)';
    const [command = '', ...rest] = [...wrap, process.execPath, VERBS, 'run', ...options, ...node(script)];
    const { stdout, stderr } = spawnSync(command, rest, { env: { ...process.env, ...env }, encoding: 'utf8' });
    expect(stderr).toBe('');
    return stdout.trim();
  };

  it.each<[string, NodeJS.ProcessEnv, string[]]>([
    ['1 1', {}, []],
    ['1 1', { VERBS_SOFT: 'soft0,mtu=1024' }, []],
    ['3 1', { UCX_IB_GID_INDEX: '3' }, []],
    ['1 2', { FI_VERBS_GID_IDX: '2' }, []],
    ['undefined undefined', { VERBS_SOFT: 'soft0,addr=127.77.3.1' }, []],
    ['undefined undefined', {}, ['--device', 'soft0,link=process']],
    ['undefined undefined', { VERBS_SOFT: `soft0,addr=${host.ipv4}` }, []],
  ])('verbs run tells UCX and libfabric the indices %s with %j %j', (index, env, options) => {
    expect(indices(host.wrap, { VERBS_SOFT: 'soft0', ...env }, options)).toBe(index);
  });

  it('verbs run tells them nothing where there is loopback only', () => {
    expect(indices(['unshare', '--net'], { VERBS_SOFT: 'soft0' })).toBe('undefined undefined');
  });
});
