// What the applications of examples/apps do where something is wrong around them.
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Outcome, pathOf, Program } from './program.js';

/** Runs an application to its end. */
const app = (path: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Outcome> =>
  new Program(process.execPath as `/${string}`, [pathOf(`apps/${path}`), ...args], { env }).outcome();

describe('kv', () => {
  /** What a client says of something that listens where it looks for its server. */
  async function get(answer: string): Promise<Outcome> {
    const server = createServer((socket) => {
      socket.on('error', () => undefined).once('data', () => socket.write(answer));
    });
    onTestFinished(() => {
      server.close();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    return app('kv/bin/kv.mjs', ['get', 'colour', '--port', String(port)]);
  }

  it('ends with the error of a connection that cannot be made', async () => {
    const { status, stderr } = await get('{"endpoint":{}}\n');
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^kv: peer\.qpNum must be /) as string]);
  });
});

it.each([
  ['kv', ['serve', '--slots', '0'], 'a whole number from 1 to 4294967296'],
  ['kv', ['get', 'colour', '--port', '70000'], 'a whole number from 0 to 65535'],
  ['gaudi', ['send', '--from', '1', '--to', '1'], '--from and --to are the same port'],
  ['gaudi', ['send', '--id', '16777216'], 'at most 16777215'],
])('%s %j leaves with 2', async (name, args, message) => {
  const { status, stderr } = await app(`${name}/bin/${name}.mjs`, args);
  expect([status, stderr]).toEqual([2, expect.stringContaining(message) as string]);
});

describe('gaudi', () => {
  it('shows the other ports where the network interface of one is down', async () => {
    const env = { VERBS_SOFT: 'hbl_0,kind=hbl,ports=2,closed_ports=2' };
    const { status, stdout, stderr } = await app('gaudi/bin/gaudi.mjs', ['ports', '--json'], env);
    expect([status, stderr]).toEqual([0, '']);
    const { ports } = JSON.parse(stdout) as { ports: object[] };
    expect(ports).toMatchObject([
      { port: 1, state: 'DOWN', encapsulations: 0 },
      { port: 2, state: 'ACTIVE', encapsulations: 8 },
    ]);
  });
});

describe('vxlan-gateway', () => {
  const folder = () => {
    const path = mkdtempSync(join(tmpdir(), 'verbs-vxlan-'));
    onTestFinished(() => {
      rmSync(path, { recursive: true });
    });
    return path;
  };

  /** A pcap file of one frame. */
  function capture(): Buffer {
    const words = (...values: number[]) => {
      const bytes = Buffer.alloc(4 * values.length);
      for (const [i, value] of values.entries()) bytes.writeUInt32LE(value, 4 * i);
      return bytes;
    };
    const frame = Buffer.from(`0200000000020200000000010800${'00'.repeat(46)}`, 'hex');
    const header = words(0xa1b2c3d4, 2 | (4 << 16), 0, 0, 65535, 1);
    return Buffer.concat([header, words(1, 2, frame.length, frame.length), frame]);
  }

  it('reads a capture before it writes one, which may be the same file', async () => {
    const file = join(folder(), 'frames.pcap');
    writeFileSync(file, capture());
    const { status, stdout, stderr } = await app('vxlan/bin/vxlan-gateway.mjs', ['encap', file, file]);
    expect([status, stdout, stderr]).toEqual([0, '1 of 1 frames\n', '']);
    // The headers of the tunnel are 50 bytes.
    expect(readFileSync(file)).toHaveLength(capture().length + 50);
  });

  it('leaves the output alone if the input is none', async () => {
    const [input, output] = ['input', 'output'].map((name) => join(folder(), name));
    for (const path of [input, output]) writeFileSync(path ?? '', 'text');
    const { status } = await app('vxlan/bin/vxlan-gateway.mjs', ['encap', input ?? '', output ?? '']);
    expect(status).toBe(1);
    expect(readFileSync(output ?? '', 'utf8')).toBe('text');
  });
});
