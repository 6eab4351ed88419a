// The applications of examples/apps in a project of a user, on the packed packages.
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { applications, readManifest } from '../../src/packages.mjs';
import { type Ended, Project } from '../project.js';
import type { Running } from '../running.js';
import { capture, framesOf } from './captures.js';

const PATIENCE = 240_000;
/** Debian's, which has pyverbs. */
const PYTHON = '/usr/bin/python3';
const { packages, registry } = inject('published');

let project: Project;

beforeAll(() => {
  project = new Project(registry);
  const installed = project.install('@verbs/cli', ...applications().map(({ name }) => name));
  if (installed.code !== 0) throw new Error(installed.stdout + installed.stderr);
}, PATIENCE);
afterAll(() => {
  project.remove();
});

/** The program of an application, as npm links it. */
const bin = (command: string) => join(project.folder, 'node_modules/.bin', command);
const app = (command: string, ...args: string[]): Ended => project.node([bin(command), ...args], {}, PATIENCE);
const start = (command: string, ...args: string[]): Running => project.start(process.execPath, [bin(command), ...args]);

const ok = (stdout: string | RegExp) => ({
  code: 0,
  stderr: '',
  stdout: typeof stdout === 'string' ? stdout : (expect.stringMatching(stdout) as string),
});

test('they depend on published packages only, and on one copy of each', () => {
  const published = new Set([...packages.map(({ name }) => name), 'commander']);
  for (const { folder } of applications()) {
    expect(Object.keys(readManifest(folder).dependencies ?? {}).filter((name) => !published.has(name))).toEqual([]);
  }
  for (const name of readdirSync(project.installed('@verbs'))) {
    expect([name, existsSync(project.installed('@verbs', name, 'node_modules'))]).toEqual([name, false]);
  }
});

test.each([
  ['kv', ['get'], /missing required argument 'key'/],
  ['gaudi', ['send', '--tunnel', 'mpls'], /Allowed choices are vxlan, gre/],
  ['vxlan-gateway', ['run'], /required option '--plain <name>' not specified/],
  ['bluefield', ['lose'], /unknown command 'lose'/],
])('%s has a help, and leaves with 2 for a wrong command line', (command, args, message) => {
  expect(app(command, '--help')).toEqual(ok(/Usage: [^]*Exit codes: 0 done, 1 failed/));
  expect(app(command, ...args)).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(message) as string });
});

describe('kv', () => {
  let server: Running;
  let port: string;

  beforeAll(async () => {
    server = start('kv', 'serve', '--port', '0', '--slots', '64');
    [, port = ''] = await server.until(/serving 64 slots of soft0 on 127\.0\.0\.1 port (\d+)/);
  }, PATIENCE);
  afterAll(() => server.kill());

  const kv = (...args: string[]) => app('kv', ...args, '--port', port);
  const python = (...args: string[]) => {
    const client = project.installed('@verbs/app-kv', 'python/kv.py');
    return app('verbs', 'run', '--', PYTHON, client, '--port', port, ...args);
  };

  test(
    'clients in Node.js and in Python share a table',
    () => {
      expect(kv('put', 'colour', 'grün')).toEqual(ok(''));
      expect(python('get', 'colour')).toEqual(ok('grün\n'));
      expect(python('put', 'shape', 'a circle')).toEqual(ok(''));
      expect(python('put', 'colour', 'blue')).toEqual(ok(''));
      expect(kv('get', 'shape', '--json')).toEqual(ok('{"key":"shape","value":"a circle"}\n'));
      expect(kv('list')).toEqual(ok('colour\tblue\nshape\ta circle\n'));
      expect(kv('delete', 'colour')).toEqual(ok(''));
      expect(python('--json', 'get', 'colour')).toEqual({
        code: 1,
        stderr: '',
        stdout: '{"key": "colour", "value": null}\n',
      });
      expect(kv('get', 'colour')).toMatchObject({ code: 1, stdout: '' });
    },
    PATIENCE,
  );

  test(
    'many keys fill the table, and an entry too much is an error',
    () => {
      // One process, many clients after each other: the server frees what they leave.
      const text = `import { Store } from './node_modules/@verbs/app-kv/src/store.mjs';
        for (let i = 0; i < 64; i++) {
          const store = await Store.open({ device: undefined, host: '127.0.0.1', port: ${port} });
          try { await store.set('shape', String(i)); await store.set('key ' + i, 'x'.repeat(i)); }
          catch (error) { console.log(error.message); }
          store.close();
        }`;
      // 'colour', which was deleted, and 'shape' have a slot each.
      expect(project.run('fill.mjs', text)).toEqual(ok('the table is full: none of its 64 slots is free\n'.repeat(2)));
      expect(kv('put', 'shape', 'x'.repeat(241))).toMatchObject({
        code: 1,
        stderr: 'kv: key and value have 246 bytes together: at most 240 are possible\n',
      });
      expect(kv('get', 'shape')).toEqual(ok('63\n'));
    },
    PATIENCE,
  );
});

describe('gaudi', () => {
  test(
    'shows ports, and sends through both kinds of tunnels',
    () => {
      const { ports } = JSON.parse(app('gaudi', 'ports', '--json').stdout) as { ports: object[] };
      expect(ports).toHaveLength(4);
      expect(ports[0]).toMatchObject({ port: 1, state: 'ACTIVE', encapsulations: 8 });
      for (const tunnel of ['vxlan', 'gre']) {
        const sent = app('gaudi', 'send', '--tunnel', tunnel, '--count', '50', '--from', '3', '--to', '4', '--json');
        expect(sent).toMatchObject({ code: 0, stderr: '' });
        expect(JSON.parse(sent.stdout)).toMatchObject({ tunnel, messages: 50, bytes: 4096, intact: true });
      }
    },
    PATIENCE,
  );

  test(
    'makes only calls that a Gaudi2 accepts, and says whose memory it needs',
    () => {
      const gaudi2 = { VERBS_SOFT: 'hbl_0,kind=hbl,ports=2,profile=gaudi2' };
      const send = (...args: string[]) => project.node([bin('gaudi'), 'send', ...args], gaudi2);
      expect(send()).toMatchObject({ code: 1, stderr: expect.stringMatching(/--memory ADDRESS,KEY/) as string });
      // The model has no accelerator with memory: the transfer itself fails, and nothing before it.
      expect(send('--memory', '0x1000,1').stderr).toMatch(/^gaudi: message 0 failed: local protection error/);
    },
    PATIENCE,
  );
});

test(
  'vxlan-gateway puts frames into the tunnel, and takes its own out again',
  () => {
    const plain = project.write('plain.pcap', '');
    const frames = capture(plain, 20);
    const [tunnel, back] = [join(project.folder, 'tunnel.pcap'), join(project.folder, 'back.pcap')];
    const both = ['--vni', '77', '--json'];
    const encapsulated = app('vxlan-gateway', 'encap', ...both, plain, tunnel);
    expect(encapsulated).toEqual(ok('{"direction":"encap","frames":20,"written":20,"outside":0}\n'));
    // Ethernet, IPv4, UDP and VXLAN.
    const headers = 14 + 20 + 8 + 8;
    expect(framesOf(tunnel).map((frame) => frame.subarray(headers).toString('hex'))).toEqual(
      frames.map((frame) => frame.toString('hex')),
    );
    expect(framesOf(tunnel).map((frame) => frame.readUIntBE(headers - 4, 3))).toEqual(frames.map(() => 77));
    expect(app('vxlan-gateway', 'decap', ...both, tunnel, back)).toMatchObject({ code: 0, stderr: '' });
    expect(framesOf(back)).toEqual(frames);
    const other = app('vxlan-gateway', 'decap', '--vni', '78', tunnel, back);
    expect(other).toEqual(ok('0 of 20 frames, 20 outside the tunnel\n'));
    expect(app('vxlan-gateway', 'encap', project.write('no.pcap', 'x'), back)).toMatchObject({ code: 1 });
  },
  PATIENCE,
);

describe('bluefield', () => {
  const service = ['--service', `app-${process.pid}`];
  const agent = async () => {
    const running = start('bluefield', 'agent', ...service, '--directory', 'files', '--allow', process.execPath);
    await running.until(/serving app-/);
    return running;
  };
  const host = (...args: string[]) => {
    const [command = '', ...rest] = args;
    for (;;) {
      const ended = app('bluefield', command, ...service, ...rest);
      // On a busy machine an agent may stand still for longer than a connection lives. A command is not repeated then.
      if (!ended.stderr.includes('the connection was lost')) return ended;
    }
  };
  /** A file that was last written so many days ago. */
  const part = (folder: string, name: string, { days }: { days: number }) => {
    mkdirSync(join(project.folder, folder), { recursive: true });
    const path = project.write(join(folder, name), 'half');
    const time = Date.now() / 1000 - days * 24 * 60 * 60;
    utimesSync(path, time, time);
    return path;
  };
  const content = Buffer.from(Array.from({ length: 600_000 }, (_, i) => (i * i) & 0xff));

  test(
    'files go both ways, commands run, and the agent keeps to its folder and its programs',
    async () => {
      // What killed programs left: only old files with a name of theirs that nobody has open are removed.
      const old = part('files', `.part-${'a'.repeat(32)}`, { days: 2 });
      const others = [
        part('files', `.part-${'b'.repeat(32)}`, { days: 0 }),
        part('files', '.part-of-a-letter', { days: 2 }),
        part('files', `.part-${'c'.repeat(32)}`, { days: 2 }),
      ];
      const held = openSync(others[2] ?? '', 'r');
      const running = await agent();
      try {
        expect([old, ...others].map((path) => existsSync(path))).toEqual([false, true, true, true]);
        for (const path of others) rmSync(path);
        const file = project.write('image.bin', content.toString('latin1'));
        const bytes = statSync(file).size;
        const sent = new RegExp(`^${bytes} bytes, SHA-256 [0-9a-f]{64}\n$`);
        expect(host('put', file)).toMatchObject({ code: 0, stdout: expect.stringMatching(sent) as string });
        expect(host('list', '--json')).toMatchObject({
          code: 0,
          stdout: `[{"name":"image.bin","bytes":${bytes}}]\n`,
        });
        const parts = ['copy.bin.part-0123abcd', 'copy.bin.part-two', 'other.bin.part-0123abcd'].map((name) =>
          part('.', name, { days: 2 }),
        );
        expect(host('get', 'image.bin', 'copy.bin', '--json')).toMatchObject({ code: 0 });
        expect(parts.map((path) => existsSync(path))).toEqual([false, true, true]);
        expect(Buffer.compare(readFileSync(join(project.folder, 'copy.bin')), readFileSync(file))).toBe(0);
        const script = "process.stdout.write('x'.repeat(10000)); console.error('trouble'); process.exitCode = 7;";
        expect(host('run', '--', process.execPath, '-e', script)).toEqual({
          code: 7,
          stdout: 'x'.repeat(10000),
          stderr: 'trouble\n',
        });
        expect(host('run', '--', 'rm', 'image.bin')).toMatchObject({
          code: 1,
          stderr: expect.stringMatching(/"rm" is not allowed here: start the agent with --allow rm/) as string,
        });
        expect(host('get', '../package.json').stderr).toMatch(/is no name of a file/);
        expect(readdirSync(join(project.folder, 'files'))).toEqual(['image.bin']);
        expect(host('get', 'none.bin', 'copy.bin').code).toBe(1);
        expect(readdirSync(project.folder).filter((name) => name.includes('.part-'))).toHaveLength(2);
      } finally {
        closeSync(held);
        expect(await running.kill()).toMatchObject({ code: 0 });
      }
    },
    PATIENCE,
  );

  test(
    'a transfer outlives the agent: another one has what the first one stored',
    async () => {
      const first = await agent();
      const put = start('bluefield', 'put', ...service, '-', 'stream.bin');
      put.process.stdin.write(content);
      const part = () => readdirSync(join(project.folder, 'files')).find((name) => name.startsWith('.part-'));
      const stored = () =>
        statSync(join(project.folder, 'files', part() ?? '.nothing'), { throwIfNoEntry: false })?.size;
      await expect.poll(stored, { timeout: PATIENCE }).toBe(content.length);
      await first.kill('SIGKILL');
      const second = await agent();
      try {
        put.process.stdin.end(content);
        const ended = await put.ended;
        expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/^1200000 bytes/) as string });
        expect(ended.stderr).toMatch(/the connection is lost: connecting again/);
        const arrived = readFileSync(join(project.folder, 'files/stream.bin'));
        expect(Buffer.compare(arrived, Buffer.concat([content, content]))).toBe(0);
        expect(part()).toBeUndefined();
      } finally {
        await second.kill();
        rmSync(join(project.folder, 'files'), { recursive: true });
      }
    },
    PATIENCE,
  );

  test('without an agent it says so', () => {
    expect(host('list', '--patience', '0')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/no agent serves "app-\d+" .*bluefield agent/) as string,
    });
  });
});
