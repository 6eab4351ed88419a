import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { run } from './helpers/program.js';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
// Its example needs this package, which @verbs/soft itself does not know.
const softReadme = readFileSync(new URL('../../soft/README.md', import.meta.url), 'utf8');

// Below the package, so that it finds "@verbs/core" under its own name.
const folder = fileURLToPath(new URL('../build/readme/', import.meta.url));

// What is TypeScript's own in a program goes away.
const programsOf = (text: string) =>
  [...text.matchAll(/```[jt]s\n([^]*?)```/g)].map(([, program = '']) =>
    program.replace(/^import type .*\n/gm, '').replace(/ as [A-Z]\w+/g, ''),
  );
const programs = programsOf(readme);

async function runProgram(name: string, program: string) {
  mkdirSync(folder, { recursive: true });
  try {
    writeFileSync(`${folder}${name}`, program);
    return await run(`${folder}${name}`);
  } finally {
    rmSync(`${folder}${name}`);
  }
}

it("runs the README's example, with the output that the README shows", async () => {
  const [, output] = /```text\n([^]*?)```/.exec(readme) ?? [];
  expect(programs[0]).toContain("from '@verbs/core'");
  const ended = await runProgram('example.mjs', programs[0] ?? '');
  expect(ended).toEqual({ code: 0, signal: null, stdout: output, stderr: '' });
});

// What its lines take for granted.
const BEFORE = `
import { AccessFlags, CompletionBatch, openDevice, QpType, SendBatch, SendFlags, WrOpcode, wcStatusText } from '@verbs/core';
const ctx = openDevice('soft0');
const pd = ctx.allocPd();
const channel = ctx.createCompChannel();
const [cq, receives] = [ctx.createCq(64, { channel }), ctx.createCq(64)];
const mr = pd.allocMr(4096, AccessFlags.LOCAL_WRITE);
const cap = { maxSendWr: 64, maxRecvWr: 64 };
const [qp, peer] = [cq, receives].map((recvCq) => pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq, cap }));
const gid = ctx.defaultGid().gid;
qp.connect({ remote: { qpNum: peer.qpNum, gid } });
peer.connect({ remote: { qpNum: qp.qpNum, gid } });
for (let i = 0; i < 64; i++) peer.postRecv({ wrId: i, sgList: [{ mr, length: 64 }] });
`;
const AFTER = 'console.log(receives.poll(64).filter((wc) => wc.ok && wc.byteLen === 64).length); ctx.close();';

it('runs the program with a socket', async () => {
  expect(programs[3]).toContain("from '@verbs/core/stream'");
  const { stdout, stderr } = await runProgram('socket.mjs', programs[3] ?? '');
  expect([stdout, stderr]).toEqual(['hello over a socket\n', '']);
});

it('runs the two programs that meet', async () => {
  const [, server = '', client = ''] = programs;
  expect(server).toContain('listen(');
  expect(client).toContain('dial(');
  mkdirSync(folder, { recursive: true });
  const port = String(20_000 + (process.pid % 10_000));
  const ended = await runProgram(
    'both.mjs',
    `import { spawn } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { writeFileSync } from 'node:fs';
const write = (name, text) => { writeFileSync(new URL(name, import.meta.url), text); return new URL(name, import.meta.url).pathname; };
const server = spawn(process.execPath, [write('server.mjs', ${JSON.stringify(server.replace('18515', port))})], { stdio: 'inherit' });
const client = write('client.mjs', ${JSON.stringify(client.replace('18515', port))});
for (let i = 0; i < 50; i++) {
  const run = spawn(process.execPath, [client], { stdio: ['ignore', 'inherit', 'ignore'] });
  if (await new Promise((resolve) => run.on('close', resolve)) === 0) break;
  await setTimeout(100);
}
server.kill();`,
  );
  expect(ended).toEqual({ code: 0, signal: null, stdout: 'hello over verbs\n', stderr: '' });
});

it('runs the lines about receivers', async () => {
  expect(programs[4]).toContain('receiver(qp');
  const others = `
import { receiver } from '@verbs/core';
setImmediate(async () => {
  mr.bytes.set(new TextEncoder().encode('hello'));
  await peer.send({ opcode: WrOpcode.SEND, sgList: [{ mr, length: 5 }] });
  while (receives.poll(1).length === 0) await new Promise(setImmediate);
  console.log(new TextDecoder().decode(mr.bytes.subarray(0, 10)));
  // The reply may be on its way still, and closing would fail it.
  process.exit();
});`;
  const ended = await runProgram('receivers.mjs', BEFORE + others + (programs[4] ?? ''));
  expect(ended).toEqual({ code: 0, signal: null, stdout: 'hello, too\n', stderr: '' });
});

it('runs the lines about batches', async () => {
  expect(programs[5]).toContain('postSendBatch');
  const ended = await runProgram('batches.mjs', BEFORE + (programs[5] ?? '') + AFTER);
  expect(ended).toEqual({ code: 0, signal: null, stdout: '64\n', stderr: '' });
});

it('runs the lines about the diagnostics channels', async () => {
  expect(programs[6]).toContain("subscribe('verbs:qp:state'");
  const broken = `
const { QpState } = await import('@verbs/core');
qp.modify({ qpState: QpState.ERR });
qp.postRecv({ wrId: 9, sgList: [{ mr, length: 64 }] });
cq.poll();
ctx.close();`;
  const ended = await runProgram('diagnostics.mjs', (programs[6] ?? '') + BEFORE + broken);
  expect(ended).toMatchObject({ code: 0, signal: null, stderr: '' });
  expect(ended.stdout.replaceAll(/0x[0-9a-f]+/g, '0xN').split('\n')).toEqual([
    ...['0xN: RESET -> INIT', '0xN: INIT -> RTR', '0xN: RTR -> RTS'],
    ...['0xN: RESET -> INIT', '0xN: INIT -> RTR', '0xN: RTR -> RTS'],
    ...['0xN: RTS -> ERR', '9 Work Request Flushed Error', ''],
  ]);
});

it('runs the program of what later libraries have', async () => {
  const program = programs.find((text) => text.includes('regBufMr')) ?? '';
  const ended = await runProgram('later.mjs', program);
  expect(ended).toEqual({ code: 0, signal: null, stdout: 'flushed 1n\n', stderr: '' });
});

it("runs the example of @verbs/soft's README", async () => {
  const [program = ''] = programsOf(softReadme);
  expect(program).toContain("configure([{ name: 'soft0', addr: '127.0.9.1'");
  // An address of this process alone: another checkout may be running its tests, too.
  const address = `127.9.${(process.pid >> 8) & 0xff}.${(process.pid & 0xfe) | 1}`;
  const ended = await runProgram('soft.mjs', program.replaceAll('127.0.9.1', address));
  expect(ended).toMatchObject({ code: 0, signal: null, stderr: '' });
  expect(ended.stdout).toMatch(
    /^\{ done: 8, sent_pkts: \d+n, retransmitted_pkts: \d+n, fault_dropped: [1-9]\d*n \}\n$/,
  );
});
