import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterEach, expect, it } from 'vitest';
import { programPath } from '../helpers/program.js';

const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) if (child.exitCode === null) child.kill();
});

/** A process that speaks in lines. */
function peer(role: string) {
  const child = spawn(process.execPath, [programPath('peer.mjs'), role], { stdio: ['pipe', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  children.push(child);
  // 'close' comes after all output, 'exit' may come before.
  const ended = once(child, 'close');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const read = async () => {
    const line = (await lines.next()) as IteratorResult<string, undefined>;
    if (line.done === true) throw new Error(`the ${role} ended before its time: ${errors}`);
    return line.value;
  };
  return { child, read, ended, errors: () => errors, write: (line: string) => child.stdin.write(`${line}\n`) };
}

it('gives all processes one address, and each queue pairs of other numbers', async () => {
  const addresses = [await peer('server').read(), await peer('client').read()];
  const [one, two] = addresses.map((text) => JSON.parse(text) as { gid: string; qpNum: number });
  expect(one?.gid).toBe(two?.gid);
  expect(one?.qpNum).not.toBe(two?.qpNum);
});

it('moves memory and messages between processes', async () => {
  const [server, client] = [peer('server'), peer('client')];
  const [serverAddress, clientAddress] = [await server.read(), await client.read()];
  server.write(clientAddress);
  client.write(serverAddress);
  expect([await server.read(), await client.read()]).toEqual(['connected', 'connected']);
  server.write('go');
  client.write('go');
  const sum = Array.from({ length: 20000 }, (_, i) => i & 255).reduce((total, byte) => total + byte, 0);
  expect(await server.read()).toBe(`sum ${sum} of 20000`);
  expect(await client.read()).toBe(`answer ${sum}`);
  server.write('end');
  client.write('end');
  expect([await server.ended, await client.ended]).toEqual([
    [0, null],
    [0, null],
  ]);
});

it('sees a dead peer as a failed completion', async () => {
  const [server, client] = [peer('server'), peer('client')];
  const [serverAddress, clientAddress] = [await server.read(), await client.read()];
  server.write(clientAddress);
  client.write(serverAddress);
  await Promise.all([server.read(), client.read()]);
  server.child.kill('SIGKILL');
  await server.ended;
  client.write('go');
  // The client throws the status that its request completed with.
  expect(await client.ended).toEqual([1, null]);
  expect(client.errors()).toMatch(/retry/i);
});
