import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dial } from '@verbs/core/rendezvous';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Program } from './program.js';

const MiB = 1 << 20;

let directory: string;
let original: string;
let copy: string;
const running: Program[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'verbs-transfer-'));
  original = join(directory, 'original');
  copy = join(directory, 'copy');
});

afterEach(async () => {
  for (const program of running.splice(0)) {
    program.process.kill('SIGKILL');
    await program.outcome();
  }
  rmSync(directory, { recursive: true });
});

function start(args: string[], configuration = ''): Program {
  const program = new Program('bin/file-transfer', args, { env: { VERBS_SOFT: configuration } });
  running.push(program);
  return program;
}

async function receiver(configuration?: string): Promise<{ receiving: Program; port: string }> {
  const receiving = start(['receive', copy, '--port', '0', '--json'], configuration);
  return { receiving, port: (await receiving.until(/port (\d+)/))[1] ?? '' };
}

const sender = (port: string, configuration?: string): Program =>
  start(['send', original, '--port', port, '--json'], configuration);

/** Two sides that are in the middle of a file which takes them long. */
async function busy(): Promise<{ sending: Program; receiving: Program }> {
  writeFileSync(original, '');
  // Sparse: no time to make and no room to keep.
  truncateSync(original, 2 ** 30);
  const slow = 'soft0,delay=2000';
  const { receiving, port } = await receiver(slow);
  const progress = new AbortController();
  const arrival = new Promise<void>((resolve) => {
    watch(copy, { signal: progress.signal }, () => {
      if (statSync(copy).size > 0) resolve();
    });
  });
  const sending = sender(port, slow);
  await arrival;
  progress.abort();
  return { sending, receiving };
}

interface Report {
  counters: Record<string, number>;
}

describe('file-transfer', () => {
  it.each([0, 1, 1000, MiB - 1, MiB, MiB + 1, 8 * MiB, 20 * MiB + 12345])('moves %i bytes', async (size) => {
    const bytes = randomBytes(size);
    writeFileSync(original, bytes);
    const { receiving, port } = await receiver();
    const sent = await sender(port).outcome();
    const received = await receiving.outcome();
    expect([sent.status, received.status]).toEqual([0, 0]);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    expect(JSON.parse(sent.stdout)).toMatchObject({ bytes: size, sha256, equal: true });
    expect(JSON.parse(received.stdout)).toMatchObject({ bytes: size, sha256, equal: true });
    expect(readFileSync(copy).equals(bytes)).toBe(true);
    expect(readdirSync(directory).sort()).toEqual(['copy', 'original']);
  });

  it('moves the file through loss, reordering, duplicates and damage', async () => {
    const bytes = randomBytes(6 * MiB + 77);
    writeFileSync(original, bytes);
    const faults = (seed: number) => `soft0,drop=0.02,reorder=0.01,duplicate=0.01,corrupt=0.01,seed=${seed}`;
    const { receiving, port } = await receiver(faults(1));
    const sent = await sender(port, faults(2)).outcome();
    const received = await receiving.outcome();
    expect([sent.status, received.status]).toEqual([0, 0]);
    expect(readFileSync(copy).equals(bytes)).toBe(true);
    expect((JSON.parse(sent.stdout) as Report).counters['retransmitted_pkts']).toBeGreaterThan(0);
  });

  it('says that the receiver died', async () => {
    const { sending, receiving } = await busy();
    receiving.process.kill('SIGKILL');
    const { status, stderr } = await sending.outcome();
    expect(stderr).toMatch(/file-transfer: the (peer has gone away|receiver no longer responds)/);
    expect(status).toBe(1);
  });

  it('says that the sender died, and leaves no half file', async () => {
    const { sending, receiving } = await busy();
    sending.process.kill('SIGKILL');
    const { status, stderr } = await receiving.outcome();
    expect(stderr).toMatch(/file-transfer: the (peer has gone away|sender no longer responds)/);
    expect(status).toBe(1);
    expect(existsSync(copy)).toBe(false);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('stops on %s at either side and tells the other why', async (signal) => {
    const { sending, receiving } = await busy();
    receiving.process.kill(signal);
    const [sent, received] = await Promise.all([sending.outcome(), receiving.outcome()]);
    expect(received).toMatchObject({ status: 1, stderr: expect.stringContaining(`stopped by ${signal}`) as string });
    expect(sent).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`the peer gave up: stopped by ${signal}`) as string,
    });
    expect(existsSync(copy)).toBe(false);
  });

  it('names what is wrong with the files', async () => {
    const missing = await start(['send', join(directory, 'none')]).outcome();
    expect(missing).toMatchObject({ status: 1, stderr: expect.stringContaining('no such file') as string });
    const folder = await start(['send', directory]).outcome();
    expect(folder).toMatchObject({ status: 1, stderr: expect.stringContaining('no regular file') as string });
    writeFileSync(copy, 'precious');
    const existing = await start(['receive', copy, '--port', '0']).outcome();
    expect(existing).toMatchObject({ status: 1, stderr: expect.stringContaining('exists already') as string });
    expect(readFileSync(copy, 'utf8')).toBe('precious');
  });

  it('says that there is no receiver', async () => {
    writeFileSync(original, 'x');
    const unused = createServer().listen(0, '127.0.0.1');
    await once(unused, 'listening');
    const { port } = unused.address() as { port: number };
    unused.close();
    const { status, stderr } = await sender(String(port)).outcome();
    expect(stderr).toMatch(/no receiver at 127\.0\.0\.1 port \d+.*ECONNREFUSED/);
    expect(status).toBe(1);
  });

  it('turns a second sender away, and goes on', async () => {
    writeFileSync(original, 'x');
    const { receiving, port } = await receiver();
    const first = await dial({ port: Number(port), receive: {}, privateData: { transfer: 'first' }, timeout: 60_000 });
    const { status, stderr } = await sender(port).outcome();
    expect(stderr).toContain('the receiver refuses: another sender is at work');
    expect(status).toBe(1);
    first.close();
    expect((await receiving.outcome()).stderr).toContain('the peer has gone away');
  });

  it('survives a peer that speaks something else', async () => {
    writeFileSync(original, 'x');
    const nonsense = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.end('{"gid":"::1","qpNum":-1}\n');
    }).listen(0, '127.0.0.1');
    await once(nonsense, 'listening');
    const { port } = nonsense.address() as { port: number };
    const { status, stderr } = await sender(String(port)).outcome();
    nonsense.close();
    expect(stderr).toMatch(/no receiver at 127\.0\.0\.1 port \d+: EPROTO: the peer speaks another protocol/);
    expect(status).toBe(1);
  });

  it.each([
    [[]],
    [['push', 'x']],
    [['send']],
    [['send', 'a', 'b']],
    [['send', 'a', '--port', '70000']],
    [['send', 'a', '--nonsense']],
  ])('%j is a usage error', async (args) => {
    const { status, stderr } = await start(args).outcome();
    expect(status).toBe(2);
    expect(stderr).toContain('file-transfer --help');
  });

  it('explains itself', async () => {
    const { status, stdout } = await start(['--help']).outcome();
    expect(status).toBe(0);
    expect(stdout).toContain('usage: file-transfer');
  });

  it('needs a device, and says why there is none', async () => {
    writeFileSync(original, 'x');
    const { status, stderr } = await start(['send', original, '--device', 'soft0'], 'soft0,addr=192.0.2.1').outcome();
    expect(stderr).toContain('192.0.2.1');
    expect(status).toBe(1);
  });
});
