import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkCapture } from '../src/demo/capture.js';
import { Program } from './program.js';

let directory: string;
/** Where the programs put their temporary files: it must be empty again afterwards. */
let scratch: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'verbs-demo-test-'));
  scratch = join(directory, 'tmp');
  mkdirSync(scratch);
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

const demo = (args: string[], env: NodeJS.ProcessEnv = {}) =>
  new Program('bin/demo', args, { cwd: directory, env: { TMPDIR: scratch, ...env } });

interface Document {
  runs: {
    bytes: number;
    packets: number;
    lost: number;
    retransmissions: number;
    sha256: string;
    sha256Equal: boolean;
  }[];
  comm: { bytes: number; messages: number; seconds: number; sha256: string };
  tunnels: { tunnel: string; arrived: boolean }[];
  reformat: { frames: number; equal: boolean };
}

/** The processes whose parent is the given one. */
function childrenOf(pid: number | undefined): string[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
}

describe('the demo', () => {
  it('does not write its capture over the file', async () => {
    writeFileSync(join(directory, 'file'), 'text');
    const { status, stderr } = await demo(['file', '--capture', './file']).outcome();
    expect([status, stderr]).toEqual([2, expect.stringContaining('the capture needs another one') as string]);
    expect(readFileSync(join(directory, 'file'), 'utf8')).toBe('text');
  });

  it('moves a file without and with loss, and leaves a capture', async () => {
    const contents = randomBytes(5_000_000);
    writeFileSync(join(directory, 'file'), contents);
    const { status, stdout, stderr } = await demo(['file', '--json']).outcome();
    expect(stderr).toContain('100 %');
    expect(status).toBe(0);
    const { runs, comm } = JSON.parse(stdout) as Document;
    expect(runs.map(({ bytes, sha256Equal }) => [bytes, sha256Equal])).toEqual([
      [5_000_000, true],
      [5_000_000, true],
    ]);
    expect(runs[0]?.sha256).toBe(runs[1]?.sha256);
    // With a fault plan at the sender there are 1221 packets of data at an MTU of 4096. Without, they go by shared memory, where
    // one stands for up to 256 KiB.
    expect(runs[0]?.packets).toBeGreaterThan(5_000_000 / (256 << 10));
    expect(runs[1]?.packets).toBeGreaterThan(1221);
    expect(runs[0]).toMatchObject({ lost: 0 });
    expect(runs[1]?.lost).toBeGreaterThan(0);
    expect(runs[1]?.retransmissions).toBeGreaterThan(0);
    const sha256 = createHash('sha256').update(contents).digest('hex');
    expect(comm).toMatchObject({ bytes: 5_000_000, messages: Math.ceil(5_000_000 / 4080), sha256 });
    expect(comm.seconds).toBeGreaterThan(0);
    expect(readFileSync(join(directory, 'verbs-demo.pcapng')).readUInt32LE(0)).toBe(0x0a0d0d0a);
    expect(readdirSync(directory).sort()).toEqual(['file', 'tmp', 'verbs-demo.pcapng']);
    expect(readdirSync(scratch)).toEqual([]);
  });

  it('prints a table', async () => {
    writeFileSync(join(directory, 'file'), randomBytes(100_000));
    const { stdout } = await demo(['file', '--capture', 'my,own.pcapng']).outcome();
    expect(stdout).toMatch(/^ +bytes +seconds +MB\/s +packets +lost +retransmissions +SHA-256$/m);
    expect(stdout).toMatch(/^no loss +100000 +[\d.]+ +[\d.]+ +\d+ +0 +\d+ +equal$/m);
    expect(stdout).toMatch(/^2 % loss +100000 .* equal$/m);
    expect(stdout).toMatch(/^From the host to its DPU .*: 100000 bytes in 25 messages, /m);
    expect(existsSync(join(directory, 'my,own.pcapng'))).toBe(true);
  });

  it('sends through tunnels', async () => {
    writeFileSync(join(directory, 'file'), 'x');
    const people = await demo(['file']).outcome();
    expect(people.stdout).toMatch(/^ {2}vxlan +outer IPv4 20 \| outer UDP 8 \| VXLAN 8 \| BTH 12 \| .* {2}arrived$/m);
    expect(people.stdout).toMatch(/^ {2}gre +outer IPv4 20 \| GRE 4 \| BTH 12 \| .* {2}arrived$/m);
    const { stdout } = await demo(['file', '--json']).outcome();
    expect((JSON.parse(stdout) as Document).tunnels).toMatchObject([
      { tunnel: 'vxlan', arrived: true },
      { tunnel: 'gre', arrived: true },
    ]);
    expect((JSON.parse(stdout) as Document).reformat).toMatchObject({ frames: 1000, equal: true });
    expect(people.stdout).toContain('they are the same, byte for byte');
    expect(people.stdout).toMatch(/^ +42 {2}vxlan {2}vni 42$/m);
    expect(readdirSync(scratch)).toEqual([]);
  });

  it.each([
    [['none'], /cannot read .*none: no such file/],
    [['.'], /no regular file/],
    [['file', '--capture', 'none/x.pcapng'], /cannot write the capture .*none\/x\.pcapng: no such file/],
    [['file', '--capture', '/dev/full'], /cannot write the capture \/dev\/full: it is no regular file/],
  ])('%j fails with a reason', async (args, message) => {
    writeFileSync(join(directory, 'file'), 'x');
    const { status, stdout, stderr } = await demo(args).outcome();
    expect(stderr).toMatch(message);
    expect(status).toBe(1);
    expect(stdout).toBe('');
    expect(readdirSync(directory).sort()).toEqual(['file', 'tmp']);
    expect(readdirSync(scratch)).toEqual([]);
  });

  it.each([[['a', 'b']], [['--nonsense']], [['--seed', 'x']]])('%j is a usage error', async (args) => {
    const { status, stderr } = await demo(args).outcome();
    expect(status).toBe(2);
    expect(stderr).toContain('npm run demo -- --help');
  });

  it('ends its processes and removes its files when it is stopped', async () => {
    const program = demo([]);
    await program.until(/no loss +\[/);
    const children = childrenOf(program.process.pid);
    expect(children).toHaveLength(2);
    program.process.kill('SIGTERM');
    const { status, stderr } = await program.outcome();
    expect(stderr).toContain('stopped by SIGTERM');
    expect(status).toBe(1);
    for (const pid of children) expect(existsSync(`/proc/${pid}`)).toBe(false);
    expect(readdirSync(directory)).toEqual(['tmp']);
    expect(readdirSync(scratch)).toEqual([]);
  });

  it('ends the processes of its second chapter as well', async () => {
    const program = demo([]);
    await program.until(/host to DPU +\[/);
    const children = childrenOf(program.process.pid);
    expect(children).toHaveLength(2);
    program.process.kill('SIGTERM');
    const { status, stderr } = await program.outcome();
    expect(stderr).toContain('stopped by SIGTERM');
    expect(status).toBe(1);
    for (const pid of children) expect(existsSync(`/proc/${pid}`)).toBe(false);
  });

  it('says that one of its processes died, and ends the other', async () => {
    const program = demo([]);
    await program.until(/no loss +\[/);
    const [receiver, sender] = childrenOf(program.process.pid);
    process.kill(Number(receiver), 'SIGKILL');
    const { status, stderr } = await program.outcome();
    expect(stderr).toMatch(
      /the (receiver ended by SIGKILL|sender failed: the (peer has gone away|receiver no longer responds))/,
    );
    expect(status).toBe(1);
    expect(existsSync(`/proc/${sender ?? ''}`)).toBe(false);
    expect(readdirSync(directory)).toEqual(['tmp']);
    expect(readdirSync(scratch)).toEqual([]);
  });

  it('notices a capture that could not be written', () => {
    const file = join(directory, 'capture');
    writeFileSync(file, Buffer.from('\n\r\r\n....capture incomplete: No space left on device (ENOSPC)        \0\0'));
    expect(() => {
      checkCapture(file);
    }).toThrow(/incomplete: No space left on device \(ENOSPC\)$/);
    writeFileSync(file, '');
    expect(() => {
      checkCapture(file);
    }).toThrow('it is empty');
  });
});
