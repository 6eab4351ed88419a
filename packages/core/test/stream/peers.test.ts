import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import process from 'node:process';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { softNic } from '@verbs/soft';
import { afterEach, expect, it } from 'vitest';
import { connect, createServer, type Socket } from '../../src/stream/index.js';
import { programPath } from '../helpers/program.js';

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** A process with the other end. */
function peer(...args: string[]): ChildProcess & { stdout: Readable } {
  const child = spawn(process.execPath, [programPath('socket-peer.mjs'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  return child;
}

const line = async (child: { stdout: Readable }) => String(((await once(child.stdout, 'data')) as [Buffer])[0]).trim();

async function failed(socket: Socket): Promise<{ code: string; after: number }> {
  const began = Date.now();
  const [{ code = '' }] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
  return { code, after: Date.now() - began };
}

it.each(['idle', 'writing'])(
  'a server that is killed is an error ECONNRESET at once, of a socket that is %s',
  async (how) => {
    const server = peer('server');
    const socket = connect({ port: Number(await line(server)) });
    socket.write('hello');
    expect(String(((await once(socket, 'data')) as [Buffer])[0])).toBe('hello');
    if (how === 'writing') {
      const more = () => {
        while (socket.write(Buffer.alloc(10_000)));
        socket.once('drain', more);
      };
      more();
      socket.resume();
      await sleep(50);
    }
    const end = failed(socket);
    server.kill('SIGKILL');
    const { code, after } = await end;
    expect(code).toBe('ECONNRESET');
    expect(after).toBeLessThan(3000);
  },
);

it('a client that is killed is an error ECONNRESET at once', async () => {
  const server = createServer().listen();
  await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const client = peer('client', String(server.address()?.port));
  const [socket] = await accepted;
  await line(client);
  // It writes into a socket that nobody reads.
  await sleep(50);
  const end = failed(socket);
  client.kill('SIGKILL');
  const { code, after } = await end;
  expect(code).toBe('ECONNRESET');
  expect(after).toBeLessThan(3000);
  await server[Symbol.asyncDispose]();
});

it('the loss of 2 % of all packets changes nothing but the speed', async () => {
  const server = createServer((socket) => socket.pipe(socket)).listen();
  await once(server, 'listening');
  const socket = connect({ port: server.address()?.port ?? 0 });
  await once(socket, 'connect');
  const { faults } = softNic();
  faults.set({ drop: 0.02 }, { seed: 7 });
  try {
    const data = randomBytes(1 << 20);
    const parts: Buffer[] = [];
    socket.on('data', (part: Buffer) => parts.push(part));
    socket.end(data);
    await once(socket, 'end');
    expect(Buffer.concat(parts).equals(data)).toBe(true);
    const [rule] = faults.get().rules;
    expect(Number(rule?.hits)).toBeGreaterThan(10);
  } finally {
    faults.clear();
    await server[Symbol.asyncDispose]();
  }
}, 120_000);

it('an idle socket whose peer does not answer fails by its keep-alive', async () => {
  const server = peer('server');
  const socket = connect({ port: Number(await line(server)) });
  await once(socket, 'connect');
  socket.setKeepAlive(true, 50);
  // A stopped process answers nothing, and its TCP connection stands.
  await sleep(200);
  expect(socket.errored).toBeNull();
  const end = failed(socket);
  server.kill('SIGSTOP');
  const { code } = await end;
  expect(code).toBe('ECONNRESET');
}, 60_000);

it('a socket that is unref()ed does not keep the process alive', async () => {
  const server = createServer((socket) => socket.on('error', () => undefined).pipe(socket)).listen(); // the process ends without a farewell
  await once(server, 'listening');
  const code = `
    import { connect } from '@verbs/core/stream';
    const socket = connect({ port: ${server.address()?.port} });
    socket.once('data', (text) => { console.log(String(text)); socket.unref(); });
    socket.write('alive');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  expect(await line(child)).toBe('alive');
  const [exit] = (await once(child, 'exit', { signal: AbortSignal.timeout(10_000) })) as [number];
  expect(exit).toBe(0);
  await server[Symbol.asyncDispose]();
});
