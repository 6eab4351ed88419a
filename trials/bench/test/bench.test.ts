import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { measure } from '../src/run/program.js';
import { bluefield, SHM } from '../src/suites/devices.js';

const BENCH = fileURLToPath(new URL('../bin/bench.mjs', import.meta.url));
const execute = promisify(execFile);

test.each(['udp_pingpong', 'rc_pingpong'])('%s measures each round trip', async (program) => {
  const { unit, min, median, p99 } = await measure({ name: '', program, args: ['-s', '64', '-n', '300'] });
  expect(unit).toBe('ns');
  expect(min).toBeGreaterThan(0);
  expect(median).toBeGreaterThanOrEqual(Number(min));
  expect(p99).toBeGreaterThanOrEqual(Number(median));
});

// The program itself compares what arrived with what was sent.
test.each([
  ['a polling target', ['-s', '65537', '-n', '40', '-w', '7']],
  ['a sleeping target', ['-s', '65537', '-n', '40', '-w', '7', '-b']],
  ['messages of one byte', ['-s', '1', '-n', '1000', '-w', '64']],
  ['the end that reads', ['-s', '65537', '-n', '40', '-w', '7', '-r']],
])('rc_stream moves bytes to %s', async (_name, args) => {
  const { unit, rate } = await measure({ name: '', program: 'rc_stream', args });
  expect(unit).toBe('MB/s');
  expect(rate).toBeGreaterThan(0);
});

test.each(['doorbell_push', 'doorbell-push.mjs'])('%s measures pushes into a user FIFO', async (program) => {
  const { unit, push } = await measure({ name: '', program, args: ['640'], configuration: 'hbl_0,kind=hbl' });
  expect(unit).toBe('ns');
  expect(push).toBeGreaterThan(0);
});

const BLUEFIELD = bluefield('shm');

// Each of them compares what arrived with what was sent.
test.each([
  ['comm-channel.mjs', 'polled'],
  ['socket.mjs', 'unix'],
  ['socket.mjs', 'tcp'],
  ['socket.mjs', 'verbs'],
  ['socket-port.mjs', 'verbs'],
  ['message-port.mjs', 'port'],
  ['zeromq.mjs', 'ipc'],
])('%s measures messages, %s', async (program, way) => {
  const configuration = way === 'verbs' ? SHM : BLUEFIELD;
  const run = (args: string[]) => measure({ name: '', program, args: [way, ...args], configuration });
  const { unit, min, median, p99 } = await run(['round-trip', '4080', '200']);
  expect(unit).toBe('ns');
  expect(min).toBeGreaterThan(0);
  expect(median).toBeGreaterThanOrEqual(Number(min));
  expect(p99).toBeGreaterThanOrEqual(Number(median));
  const { unit: perSecond, rate } = await run(['stream', '4080', '1000']);
  expect(perSecond).toBe('messages/s');
  expect(rate).toBeGreaterThan(0);
});

// The reader looks at each write.
test.each(['unix', 'tcp', 'verbs'])('writes.mjs measures writes, %s', async (way) => {
  const args = [way, 'stream', '65537', '300'];
  const { unit, rate } = await measure({ name: '', program: 'writes.mjs', args, configuration: SHM });
  expect(unit).toBe('messages/s');
  expect(rate).toBeGreaterThan(0);
});

test.each(['comm-channel', 'comch'])('comm-channel.mjs measures over %s, polled and awaited', async (api) => {
  const contender = {
    name: '',
    program: 'comm-channel.mjs',
    configuration: BLUEFIELD,
    environment: { VERBS_DOCA_API: api },
  };
  const { median } = await measure({ ...contender, args: ['polled', 'round-trip', '4080', '200'] });
  expect(median).toBeGreaterThan(0);
  const { rate } = await measure({ ...contender, args: ['awaited', 'stream', '4080', '1000'] });
  expect(rate).toBeGreaterThan(0);
});

test('comch-bulk.mjs measures a stream over the fast path', async () => {
  const args = ['polled', 'stream', String(2 ** 20), '100'];
  const { unit, rate } = await measure({ name: '', program: 'comch-bulk.mjs', args, configuration: BLUEFIELD });
  expect(unit).toBe('messages/s');
  expect(rate).toBeGreaterThan(0);
});

// Both ends of both kinds look at what arrived.
test.each([
  ['wait', undefined],
  ['promises', undefined],
  ['comm', BLUEFIELD],
])('awaited.mjs %s measures round trips beside those of a socket', async (way, configuration) => {
  const args = [way, '64', '200'];
  const contender = { name: '', program: 'awaited.mjs', args, ...(configuration !== undefined && { configuration }) };
  const { unit, socket, awaited } = await measure(contender);
  expect(unit).toBe('ns');
  expect(socket).toBeGreaterThan(0);
  expect(awaited).toBeGreaterThan(0);
});

test.each([
  [['never', '64', '1'], 'the way is never'],
  [['wait', '0', '1'], '0 is no size or count'],
  [['wait', '64'], 'NaN is no size or count'],
])('awaited.mjs %j is refused', async (args, words) => {
  await expect(measure({ name: '', program: 'awaited.mjs', args })).rejects.toThrow(words);
});

const LOCAL = 'soft0,link=process;soft1,link=process';

// They look at what arrived, in C and in TypeScript.
test.each([
  ['local_pingpong', ['-s', '64', '-n', '500'], 'median', LOCAL],
  ['local_stream', ['-s', '64', '-n', '1000', '-w', '64', '-l', '32'], 'messages', LOCAL],
  ['rc_stream', ['-s', '64', '-n', '1001', '-w', '64', '-l', '32'], 'messages', undefined],
  ...['batch', 'plain', 'await'].flatMap((way): [string, string[], string, string | undefined][] => [
    ['rc-local.mjs', [way, 'round-trip', '64', '100'], 'median', LOCAL],
    ['rc-local.mjs', [way, 'stream', '64', '1000'], 'messages', LOCAL],
    ...(way === 'await'
      ? []
      : [
          ['rc-processes.mjs', [way, 'round-trip', '64', '50'], 'median', undefined] satisfies [
            string,
            string[],
            string,
            undefined,
          ],
        ]),
    ['rc-processes.mjs', [way, 'stream', '64', '500', '16', '8'], 'messages', undefined],
  ]),
])('%s %j measures', async (program, args, figure, configuration) => {
  const measurement = await measure({ name: '', program, args, ...(configuration !== undefined && { configuration }) });
  expect(measurement[figure]).toBeGreaterThan(0);
});

test('rc-processes.mjs measures a stream of awaited requests', async () => {
  const args = ['promise', 'stream', '64', '500', '16', '8'];
  expect((await measure({ name: '', program: 'rc-processes.mjs', args }))['messages']).toBeGreaterThan(0);
});

test('the programs of the speeds refuse what they do not know', async () => {
  for (const args of [
    [],
    ['fast', 'stream'],
    ['plain', 'flood'],
    ['plain', 'stream', '0'],
    ['batch', 'stream', '64', '1', '8', '3'],
  ])
    await expect(measure({ name: '', program: 'rc-local.mjs', args })).rejects.toThrow(
      /the way is|round-trip or stream|no size|no multiple/,
    );
});

test('a program that fails is an error with its own words', async () => {
  const wrong = { name: '', program: 'rc_pingpong', args: ['-n', 'many'] };
  await expect(measure(wrong)).rejects.toThrow('usage: rc_pingpong');
  await expect(measure({ ...wrong, program: 'missing' })).rejects.toThrow('not built');
});

test('the probe of the placement measures round trips', async () => {
  const { median } = await measure({ name: '', program: 'probe', args: ['-n', '50'] });
  expect(median).toBeGreaterThan(0);
});

// It compares what arrived with what was sent.
test('rc_messages sends in lists', async () => {
  const args = ['-s', '64', '-n', '2000', '-w', '64', '-l', '16'];
  const { messages } = await measure({ name: '', program: 'rc_messages', args, configuration: SHM });
  expect(messages).toBeGreaterThan(0);
});

test('many_queue_pairs measures the memory of an idle one as well', async () => {
  const args = ['-n', '50', '-q', '130'];
  const { median, bytes } = await measure({ name: '', program: 'many_queue_pairs', args, configuration: SHM });
  expect(median).toBeGreaterThan(0);
  expect(bytes).toBeGreaterThan(0);
});

// It looks at what it read.
test('passive_reads measures READs from a process that sleeps, and from one that polls rarely', async () => {
  const args = ['-s', '4096', '-n', '2100'];
  const figures = await measure({ name: '', program: 'passive_reads', args, configuration: SHM });
  expect(figures['unit']).toBe('ns');
  for (const figure of ['sleeps', 'polls_1ms', 'polls_10ms']) expect(figures[figure]).toBeGreaterThan(0);
});

interface Document {
  rounds: number;
  results: { contenders: { values: number[]; placements: string[] }[] }[];
}

test('--json prints one document, and --html writes the report', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'verbs-bench-test-'));
  try {
    const file = join(folder, 'report.html');
    const args = [BENCH, '--json', '--quick', '--rounds', '1', '--only', 'a doorbell', '--html', file];
    const { stdout } = await execute(process.execPath, args);
    const { rounds, results } = JSON.parse(stdout) as Document;
    expect(rounds).toBe(1);
    expect(results).toHaveLength(1);
    for (const { values, placements } of results[0]?.contenders ?? []) {
      expect(values).toHaveLength(1);
      expect(['near', 'far', 'mixed']).toContain(placements[0]);
    }
    expect(readFileSync(file, 'utf8')).toContain('a doorbell into a user FIFO');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('--only picks comparisons by their names', async () => {
  const args = [BENCH, '--quick', '--rounds', '1', '--only', 'a doorbell'];
  const { stdout } = await execute(process.execPath, args);
  expect(stdout).toMatch(
    /^\na doorbell [^\n]*, ns\n +median +near +far +ratio\n +C [^]*TypeScript [^]*\ntarget +figure +limit\n[^\n]* at most 1\.50 +(reached|missed)\n/,
  );
  await expect(execute(process.execPath, [BENCH, '--only', 'nothing'])).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no comparison has "nothing" in its name') as unknown,
  });
});

test('a wrong command line ends with exit code 2 and the usage', async () => {
  await expect(execute(process.execPath, [BENCH, '--rounds', '0'])).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/--rounds is 0[^]*usage:/) as unknown,
  });
  await expect(execute(process.execPath, [BENCH, '--minutes', '0'])).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/--minutes is 0[^]*usage:/) as unknown,
  });
});
