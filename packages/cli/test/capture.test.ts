import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FrameReader } from '@verbs/lib/capture-files';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { summarize } from '../src/capture/pcapng.js';
import { targetOf } from '../src/capture-target.js';
import { interfaceBlock, packetBlock, sectionBlock } from './pcapng-blocks.js';
import { VERBS, Verbs, verbs } from './verbs.js';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'verbs-capture-'));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

/** A program of two processes that exchange three pings: each has a device and so a capture of its own. */
const TWO_PROCESSES = `
  const { spawn } = require('node:child_process');
  const server = spawn(process.execPath, [${JSON.stringify(VERBS)}, 'ping', '-s', '--once', '-p', '0'], { stdio: ['ignore', 'ignore', 'pipe'] });
  server.stderr.once('data', (text) => {
    const port = /port (\\d+)/.exec(text)[1];
    const client = spawn(process.execPath, [${JSON.stringify(VERBS)}, 'ping', '-c', '3', '-i', '0', '-p', port], { stdio: 'inherit' });
    client.on('close', (status) => server.on('close', (other) => process.exit(status || other)));
  });
`;

/** A program that leaves such a file where the NIC would put its capture. */
const leaves = (file: string) => `
  const { copyFileSync } = require('node:fs');
  const pattern = /capture=([^,;]+)/.exec(process.env.VERBS_SOFT)[1];
  copyFileSync(${JSON.stringify(file)}, pattern.replace('%p', process.pid).replace('%d', 'soft0'));
`;

function sample(comment: string): string {
  const file = join(directory, 'sample');
  writeFileSync(
    file,
    Buffer.concat([sectionBlock(comment), interfaceBlock(), packetBlock(100, 'sent'), packetBlock(60, 'received')]),
  );
  return file;
}

/** As the software NIC reports it, on a line. */
const REASON = {
  ...{ time: '2026-01-02T03:04:05.000006Z', pid: 1, device: 'soft0', place: 'arrival', reason: 'drop_qkey' },
  ...{ number: 1, count: '1', text: 'the datagram has another Q_Key', help: '', values: {} },
};

describe('verbs capture', () => {
  it('merges the captures of all processes into one file', async () => {
    const file = join(directory, 'two.pcapng');
    const { status, stderr, stdout } = await verbs([
      'capture',
      '-o',
      file,
      '--json',
      '--',
      process.execPath,
      '-e',
      TWO_PROCESSES,
    ]);
    expect(stderr).toBe('');
    expect(status).toBe(0);
    const summary = JSON.parse(stdout.slice(stdout.indexOf('{'))) as Record<string, number>;
    expect(summary).toMatchObject({ file, status: 0, sections: 2 });
    // At the least three SENDs there and back, each sent by one and received by the other.
    expect(summary['sent']).toBeGreaterThanOrEqual(6);
    expect(summary['packets']).toBe((summary['sent'] ?? 0) + (summary['received'] ?? 0));
    expect(summarize(file)).toMatchObject({ sections: 2, packets: summary['packets'], incomplete: [] });
    expect(readdirSync(directory)).toEqual(['two.pcapng']);
  });

  it('fails if the program opened no device, and leaves nothing', async () => {
    const file = join(directory, 'none.pcapng');
    const { status, stderr } = await verbs(['capture', '-o', file, '--', 'true']);
    expect(stderr).toContain('nothing was captured');
    expect(status).toBe(1);
    expect(readdirSync(directory)).toEqual([]);
  });

  it("keeps the program's own failure as the status", async () => {
    const { status, stderr } = await verbs(['capture', '-o', join(directory, 'x'), '--', 'false']);
    expect(stderr).toContain('nothing was captured');
    expect(status).toBe(1);
    expect(await verbs(['capture', '-o', join(directory, 'x'), '--', 'sh', '-c', 'exit 9'])).toMatchObject({
      status: 9,
    });
  });

  it('fails if the disk filled up during the program', async () => {
    const part = sample('capture incomplete: No space left on device (ENOSPC)');
    const file = join(directory, 'out.pcapng');
    const { status, stderr } = await verbs(['run', '--capture', file, '--', process.execPath, '-e', leaves(part)]);
    expect(stderr).toMatch(
      /out\.pcapng is incomplete: No space left on device \(ENOSPC\)\. It holds 2 packets up to there\n.*free some space/,
    );
    expect(status).toBe(1);
    expect(readFileSync(file)).toEqual(readFileSync(part));
  });

  it('has all parts, and the reasons, behind one whose process was killed while it wrote', async () => {
    const part = sample('capture by verbs soft NIC');
    const file = join(directory, 'out.pcapng');
    const killed = `${leaves(part)}
      const { appendFileSync, readFileSync } = require('node:fs');
      const first = pattern.replace('%p', process.pid).replace('%d', 'soft0');
      appendFileSync(first, readFileSync(first).subarray(0, 50));
      copyFileSync(${JSON.stringify(part)}, pattern.replace('%p-%d', 'other'));
      appendFileSync(process.env.VERBS_SOFT_WHY, ${JSON.stringify(`${JSON.stringify(REASON)}\n`)});`;
    const { status, stderr } = await verbs(['run', '--capture', file, '--', process.execPath, '-e', killed]);
    expect(status, stderr).toBe(0);
    expect(summarize(file)).toMatchObject({ sections: 3, packets: 4 });
    using reader = new FrameReader(file, { rawIp: true });
    expect(Array.from(reader.records())).toHaveLength(4);
    expect(reader.journal).toHaveLength(1);
  });

  it('fails if the merged capture does not fit', async () => {
    const part = sample('capture by verbs soft NIC');
    const { status, stderr } = await verbs([
      'run',
      '--capture',
      '/dev/full',
      '--',
      process.execPath,
      '-e',
      leaves(part),
    ]);
    expect(stderr).toMatch(
      /\/dev\/full could not be written: no space left on the device \(ENOSPC\)\n.*free some space/,
    );
    expect(status).toBe(1);
  });

  it.each([
    ['/nonexistent/out.pcapng', /no such file or directory/],
    ['/', /it is a directory/],
  ])('says before the program runs that %s cannot be written', async (file, message) => {
    const marker = join(directory, 'ran');
    const { status, stderr } = await verbs(['run', '--capture', file, '--', 'touch', marker]);
    expect(stderr).toMatch(message);
    expect(status).toBe(1);
    expect(existsSync(marker)).toBe(false);
  });

  it('has the packets of a program that configures its devices itself', async () => {
    const file = join(directory, 'own.pcapng');
    const program = fileURLToPath(new URL('programs/refused.mjs', import.meta.url));
    const own = `import { configure } from '@verbs/soft'; configure('own0,addr=127.77.3.9'); await import('${program}');`;
    const node = [process.execPath, '--input-type=module', '-e', own];
    const { status, stderr } = await verbs(['capture', '-o', file, '--', ...node]);
    expect([status, stderr]).toMatchObject([0, expect.stringContaining('6 packets')]);
  });

  it('writes to a path with separators and patterns in its name', async () => {
    const file = join(directory, 'a,b;c#d %p %25.pcapng');
    const { status } = await verbs(['capture', '-o', file, '--device', 'soft0,addr=127.77.3.1', '--', 'ibv_devinfo']);
    expect(status).toBe(0);
    expect(summarize(file)).toMatchObject({ sections: 1, incomplete: [] });
  });
});

describe('the target of a capture', () => {
  it('is the file that a link leads to, which keeps its permissions', async () => {
    const part = sample('capture by verbs soft NIC');
    const [file, link] = [join(directory, `${'n'.repeat(243)}.pcapng`), join(directory, 'link')];
    writeFileSync(file, 'old');
    chmodSync(file, 0o640);
    symlinkSync(file, link);
    const { status } = await verbs(['capture', '-o', link, '--', process.execPath, '-e', leaves(part)]);
    expect(status).toBe(0);
    expect([lstatSync(link).isSymbolicLink(), statSync(file).mode & 0o777]).toEqual([true, 0o640]);
    expect(readFileSync(file)).toEqual(readFileSync(part));
    // Or the one that will be there.
    symlinkSync('later.pcapng', join(directory, 'dangling'));
    expect(targetOf(join(directory, 'dangling'))).toEqual({ path: join(directory, 'later.pcapng'), isFile: true });
  });

  it('is a pipe, whose reader gets all parts', async () => {
    const part = sample('capture by verbs soft NIC');
    const pipe = join(directory, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const twice = `${leaves(part)} copyFileSync(${JSON.stringify(part)}, pattern.replace('%p-%d', 'other'));`;
    const capture = new Verbs(['capture', '-o', pipe, '--', process.execPath, '-e', twice]);
    const read = execFileSync('timeout', ['20', 'cat', pipe]);
    expect(read).toEqual(Buffer.concat([readFileSync(part), readFileSync(part)]));
    expect((await capture.outcome()).status).toBe(0);
  });
});

describe('the capture reader', () => {
  const summaryOf = (...blocks: Buffer[]) => {
    const file = join(directory, 'capture');
    writeFileSync(file, Buffer.concat(blocks));
    return summarize(file);
  };

  it('counts packets, bytes and directions', () => {
    const blocks = [sectionBlock('x'), interfaceBlock(), packetBlock(101, 'sent'), packetBlock(7, 'received', 1000)];
    expect(summaryOf(...blocks)).toEqual({
      sections: 1,
      packets: 2,
      bytes: 1101,
      sent: 1,
      received: 1,
      incomplete: [],
    });
  });

  it('reads what is left of a file that was cut off', () => {
    const whole = packetBlock(100, 'sent');
    for (let cut = 1; cut < whole.length; cut++) {
      const blocks = [sectionBlock('x'), interfaceBlock(), packetBlock(50, 'sent'), whole.subarray(0, cut)];
      expect(summaryOf(...blocks)).toMatchObject({ packets: 1, bytes: 50 });
    }
  });

  it('reads more than it holds in its buffer', () => {
    const many = Array.from({ length: 3000 }, () => packetBlock(1400, 'received'));
    expect(summaryOf(sectionBlock('x'), interfaceBlock(), ...many)).toMatchObject({
      packets: 3000,
      bytes: 3000 * 1400,
    });
  });

  it('refuses what is no capture, and a block of an impossible length', () => {
    expect(() => summaryOf(Buffer.from('no capture at all'))).toThrow('is neither a pcap nor a pcapng file');
    const damaged = packetBlock(50, 'sent');
    damaged.writeUInt32LE(0xfffffffc, 4);
    expect(() => summaryOf(sectionBlock('x'), damaged)).toThrow('is damaged');
    damaged.writeUInt32LE(13, 4);
    expect(() => summaryOf(sectionBlock('x'), damaged)).toThrow('is damaged');
  });
});
