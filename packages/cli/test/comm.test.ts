import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lineOf } from '@verbs/lib/text';
import { Verbs, verbs } from './verbs.js';

const running: Verbs[] = [];
let directory: string;
let name: string;
let count = 0;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'verbs-comm-test-'));
  name = `comm-${process.pid}-${++count}`;
});

afterEach(async () => {
  for (const each of running.splice(0)) {
    each.kill('SIGKILL');
    await each.outcome();
  }
  rmSync(directory, { recursive: true });
});

function start(args: readonly string[]): Verbs {
  const started = new Verbs(['comm', ...args], {}, 'pipe');
  running.push(started);
  return started;
}

async function serve(...args: string[]): Promise<Verbs> {
  const service = start(['serve', name, ...args]);
  await service.until(/serving \S+ on doca_dpu0 for [\da-f]{4}:3b:00\.0/);
  return service;
}

const connect = (...args: string[]) => start(['connect', name, ...args]);

interface Document {
  clients: {
    client: number;
    sentMessages: number;
    receivedMessages: number;
    receivedBytes: number;
    files: { name: string; bytes?: number; sha256?: string; error?: string }[];
  }[];
}

async function stopped(service: Verbs): Promise<Document> {
  service.kill('SIGINT');
  const { status, stdout } = await service.outcome();
  expect(status).toBe(0);
  return JSON.parse(stdout) as Document;
}

describe('verbs comm', () => {
  it.each([
    ['comch', 'comm-channel'],
    ['comm-channel', 'comch'],
    ['comch', 'comch'],
  ])('a service over %s and a client over %s', async (one, other) => {
    const service = await serve('--echo', '--api', one);
    const client = connect('--api', other, '--wait', '1');
    client.process.stdin?.end('across\n');
    const { status, stdout } = await client.outcome();
    expect([status, stdout]).toEqual([0, 'across\n']);
    service.kill('SIGINT');
    expect((await service.outcome()).stdout).toContain('1: across');
  });

  it('carries lines of both sides', async () => {
    const service = await serve();
    const client = connect();
    client.process.stdin?.write('hello, DPU\n');
    await service.until(/^1: hello, DPU$/m);
    service.process.stdin?.write('hello, host\n');
    await client.until(/^hello, host$/m);
    client.process.stdin?.end('bye');
    const { status, stdout, stderr } = await client.outcome();
    expect([status, stdout]).toEqual([0, 'hello, host\n']);
    expect(stderr).toContain('sent 2 (13 bytes), received 1 (11 bytes)');
    await service.until(/client 1 is gone/);
    service.kill('SIGTERM');
    const ended = await service.outcome();
    expect(ended.status).toBe(0);
    expect(ended.stdout).toBe(
      '1: hello, DPU\n1: bye\n1 client\nclient 1: sent 1 (11 bytes), received 2 (13 bytes), 0 files\n',
    );
  });

  it('serves several clients at once, and tells each its own', async () => {
    const service = await serve('--echo', '--json');
    const clients = ['a', 'b', 'c', 'd'].map((letter) => {
      const client = connect('--json');
      client.process.stdin?.write(`${letter}0\n`);
      return { letter, client };
    });
    // All of them are connected before the first one ends.
    await Promise.all(clients.map(({ letter, client }) => client.until(new RegExp(`^${letter}0$`, 'm'))));
    const lines = Array.from({ length: 500 }, (_, i) => i + 1);
    for (const { letter, client } of clients) client.process.stdin?.write(lines.map((i) => `${letter}${i}\n`).join(''));
    for (const { letter, client } of clients) {
      await client.until(new RegExp(`^${letter}500$`, 'm'));
      client.process.stdin?.end();
      const { status, stdout, stderr } = await client.outcome();
      expect(status).toBe(0);
      expect(stderr).toBe([0, ...lines].map((i) => `${letter}${i}\n`).join(''));
      expect(JSON.parse(stdout)).toMatchObject({ service: name, sentMessages: 501, receivedMessages: 501 });
    }
    const { clients: records } = await stopped(service);
    expect(records.map(({ sentMessages, receivedMessages }) => [sentMessages, receivedMessages])).toEqual(
      Array.from({ length: 4 }, () => [501, 501]),
    );
  });

  it('sends files, each with its checksum compared, and stores them', async () => {
    const inbox = join(directory, 'inbox');
    mkdirSync(inbox);
    const service = await serve('--json', '-o', inbox);
    const files = [0, 1, 4080, 1_000_001].map((bytes) => ({ name: `file ${bytes}`, contents: randomBytes(bytes) }));
    const sent = files.map(async ({ name: file, contents }) => {
      const path = join(directory, file);
      writeFileSync(path, contents);
      const sha256 = createHash('sha256').update(contents).digest('hex');
      const { status, stdout, stderr } = await connect('--file', path, '--json').outcome();
      if (contents.length > 0) expect(stderr).toContain('100 %');
      expect(status).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({
        sentBytes: expect.any(Number) as number,
        file: { path, bytes: contents.length, messages: Math.ceil(contents.length / 4080), sha256 },
      });
      expect(readFileSync(join(inbox, file)).equals(contents)).toBe(true);
      return { name: file, bytes: contents.length, sha256 };
    });
    const wanted = await Promise.all(sent);
    const { clients } = await stopped(service);
    const got = clients.flatMap((each) => each.files);
    expect(got).toHaveLength(wanted.length);
    expect(got).toEqual(expect.arrayContaining(wanted));
  });

  it('refuses a folder that is not there, or is none, before anybody connects', async () => {
    writeFileSync(join(directory, 'file'), '');
    for (const [name, reason] of [
      ['nowhere', 'no such file or directory'],
      ['file', 'a part of the path is not a directory'],
    ] as const) {
      const { status, stderr } = await verbs(['comm', 'serve', 'inbox', '-o', join(directory, name)]);
      expect(status).toBe(1);
      expect(stderr).toContain(reason);
      expect(stderr).toContain(`mkdir -p ${join(directory, name)}`);
    }
  });

  it('keeps a file that exists, and says so', async () => {
    const inbox = join(directory, 'inbox');
    mkdirSync(inbox);
    const path = join(directory, 'file');
    writeFileSync(path, randomBytes(3_000_000));
    writeFileSync(join(inbox, 'file'), 'old');
    const service = await serve('--json', '-o', inbox);
    const { status, stdout, stderr } = await connect('--file', path).outcome();
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/the peer rejects .*file: "it cannot be stored: it exists already \(EEXIST\)"/);
    expect(readFileSync(join(inbox, 'file'), 'utf8')).toBe('old');
    const { clients } = await stopped(service);
    expect(clients[0]?.files).toEqual([{ name: 'file', error: expect.stringContaining('EEXIST') as string }]);
  });

  it('removes the part of a file whose sender died', async () => {
    const inbox = join(directory, 'inbox');
    mkdirSync(inbox);
    const path = join(directory, 'file');
    writeFileSync(path, '');
    truncateSync(path, 100_000_000);
    const service = await serve('-o', inbox);
    const client = connect('--file', path);
    await client.until(/25 %/);
    client.kill('SIGKILL');
    await service.until(/client 1 is gone/);
    expect(readdirSync(inbox)).toEqual([]);
  });

  it('says that nobody listens, and that the name is taken', async () => {
    const missing = await verbs(['comm', 'connect', name]);
    expect(missing.stderr).toContain(`no service named ${name} is listening on the DPU`);
    expect(missing.status).toBe(1);
    await serve();
    const second = await verbs(['comm', 'serve', name]);
    expect(second.stderr).toContain(`the service ${name} cannot be registered`);
    expect(second.status).toBe(1);
  });

  it('says that the service died', async () => {
    const service = await serve();
    const client = connect();
    client.process.stdin?.write('x\n');
    await service.until(/^1: x$/m);
    service.kill('SIGKILL');
    const { status, stderr } = await client.outcome();
    expect(stderr).toMatch(/verbs: DOCA_ERROR_CONNECTION_RESET.*a peer is gone/);
    expect(status).toBe(1);
  });

  it('refuses a line that is no message', async () => {
    await serve();
    const client = connect();
    client.process.stdin?.end(`short\n${'x'.repeat(4081)}\n`);
    const { status, stderr } = await client.outcome();
    expect(stderr).toMatch(/^sent 1 \(5 bytes\), [\s\S]*line 2 has 4081 bytes; a message has 4080 at most\n.*--file/);
    expect(status).toBe(1);
  });

  it('passes over a line of the service that is no message, and a client that waits ends at Ctrl-C', async () => {
    const service = await serve();
    const client = connect('--wait', '60');
    client.process.stdin?.end('x\n');
    await service.until(/^1: x$/m);
    service.process.stdin?.write(`${'x'.repeat(4081)}\nshort\n`);
    await client.until(/^short$/m);
    expect(service.stderr).toContain('line 1 has 4081 bytes');
    client.kill('SIGINT');
    expect((await client.outcome()).status).toBe(0);
  });

  it.each([
    ['--device', 'nothing'],
    ['--file', 'missing'],
  ])('connect %s %s fails with a reason', async (...args) => {
    await serve();
    const { status, stdout, stderr } = await connect(...args).outcome();
    expect(stderr).toMatch(/there is no device nothing|cannot read missing: no such file/);
    expect([status, stdout]).toEqual([1, '']);
  });
});

it('does not let a peer write to the terminal as it likes', async () => {
  expect(lineOf(Buffer.from('tab\there, red: \u001b[31m, \u009b31m, new\nline\r, ä'))).toBe(
    'tab\there, red: \\x1b[31m, \\x9b31m, new\\x0aline\\x0d, ä',
  );
  const service = await serve('--echo');
  const client = connect();
  client.process.stdin?.write('größe \u001b[31m \u009b31m \u007f \u202e\n');
  const shown = 'größe \\x1b[31m \\x9b31m \\x7f \\u202e';
  await service.until(/^1: .*u202e$/m);
  await client.until(/^gr.*u202e$/m);
  client.process.stdin?.end();
  expect((await client.outcome()).stdout).toBe(`${shown}\n`);
  const path = join(directory, 'größe \u009b31m \u007f \u202e');
  writeFileSync(path, 'x');
  const { status, stderr } = await connect('--file', path).outcome();
  expect([status, stderr]).toEqual([0, expect.not.stringMatching(RAW)]);
  const { stdout } = await stoppedText(service);
  expect(stdout).toContain(`1: ${shown}\n`);
  expect(stdout).toContain('2: file "größe \\x9b31m \\x7f \\u202e", 1 byte, SHA-256 ');
  expect(stdout).not.toMatch(RAW);
});

/** What no terminal may get. */
// eslint-disable-next-line no-control-regex -- these are the characters
const RAW = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/;

async function stoppedText(service: Verbs) {
  service.kill('SIGINT');
  return await service.outcome();
}
