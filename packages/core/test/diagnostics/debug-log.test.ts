import { dropInDirectory } from '@verbs/soft';
import { expect, it } from 'vitest';
import { programPath, run } from '../helpers/program.js';

const program = programPath('debug-log.mjs');
const nodeArgs = ['--expose-gc'];

it('NODE_DEBUG=verbs writes a line for each thing of interest', async () => {
  const ended = await run(program, { nodeArgs, env: { NODE_DEBUG: 'verbs' } });
  expect(ended).toMatchObject({ code: 0, stdout: 'done\n' });
  // Whether the NIC tells the one who asks depends on who hears of it first.
  const lines = ended.stderr
    .trim()
    .split('\n')
    .filter((line) => !line.includes(' ibv_poll_cq: REM_ACCESS_ERR: '));
  expect(lines.every((line) => /^VERBS \d+: /.test(line))).toBe(true);
  const told = lines.map((line) => line.replace(/^VERBS \d+: /, '').replaceAll(/0x[0-9a-f]{6}\b/g, '0x0000XX'));
  const expected = [
    /^library libibverbs \(system\): /,
    /^devices \(system\): /,
    /^library libibverbs \(soft\): loaded \/.*libverbs-soft/,
    'devices (soft): soft0',
    'open Context #1',
    'open ProtectionDomain #2',
    'open MemoryRegion #3',
    'register MemoryRegion #3: 4096 bytes, LOCAL_WRITE|REMOTE_WRITE',
    'open CompletionQueue #4',
    'open QueuePair #5',
    // The software NIC's own lines: what it refuses, and why.
    /^soft0 queue pair 0x\w+, ibv_post_send: errno 22: the queue pair is in RESET and takes send requests from RTS on/,
    /^post failed on QueuePair #5, after 0 requests: EINVAL: invalid argument, ibv_post_send: the queue pair is in/,
    'QueuePair #5 0x0000XX: RESET -> INIT (modify)',
    'QueuePair #5 0x0000XX: INIT -> RTR (modify)',
    'QueuePair #5 0x0000XX: RTR -> RTS (modify)',
    // Connected to itself, it fails as the one who is asked, or as the one who asks.
    /^completion failed in CompletionQueue #4: wrId 7 of 0x0000XX, (WR_FLUSH_ERR \(5\)|REM_ACCESS_ERR \(10\)), vendor error 0x0$/,
    /^QueuePair #5 0x0000XX: RTS -> ERR \((completion|event)\)$/,
    /^soft0 queue pair 0x\w+: .* R_Key 0x\w+/,
    'event of soft0: QP_ACCESS_ERR, QueuePair #5',
    'event of soft0: PORT_ERR, port 1',
    'deregister MemoryRegion #3: 4096 bytes',
    'close MemoryRegion #3',
    'close QueuePair #5',
    'close CompletionQueue #4',
    'close ProtectionDomain #2',
    'close Context #1',
    'open Context #6',
    /^leaked Context #6, at .*debug-log\.mjs:/,
  ];
  const tells = (wanted: string | RegExp) => (line: string) =>
    typeof wanted === 'string' ? line === wanted : wanted.test(line);
  for (const wanted of expected) expect(told.filter(tells(wanted)), String(wanted)).toHaveLength(1);
  // Nothing else, and in this order but for the event about the queue pair, which may come early or late, and tells the
  // new state then.
  const anywhere = /QP_ACCESS_ERR|RTS -> ERR|R_Key/;
  const order = told.filter((line) => !anywhere.test(line));
  const wantedOrder = expected.filter((wanted) => !anywhere.test(String(wanted)));
  expect(order.map((line) => wantedOrder.findIndex((wanted) => tells(wanted)(line)))).toEqual([...wantedOrder.keys()]);
});

it('writes nothing without it', async () => {
  expect(await run(program, { nodeArgs, env: { NODE_DEBUG: '' } })).toMatchObject({
    code: 0,
    stdout: 'done\n',
    stderr: '',
  });
});

it('tells why a library is not used, and why there is no device', async () => {
  const env = { NODE_DEBUG: 'verbs', LD_LIBRARY_PATH: dropInDirectory(), VERBS_SOFT: 'soft0,adr=127.9.9.9' };
  const { stderr } = await run(programPath('list.mjs'), { env });
  expect(stderr).toMatch(
    /: library libibverbs \(system\): not used from libibverbs\.so\.1: the .* is the software NIC/,
  );
  expect(stderr).toMatch(/: devices \(soft\): none: .*adr/);
});
