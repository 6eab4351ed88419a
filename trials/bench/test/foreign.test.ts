import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { libfabric } from '../src/foreign/libfabric.js';
import type { Pair } from '../src/foreign/pair.js';
import { perftestBandwidth, perftestLatency } from '../src/foreign/perftest.js';
import { runPair } from '../src/foreign/run-pair.js';
import { POSIX, RC, ucx } from '../src/foreign/ucx.js';

test("ib_send_lat's half round trips are read", () => {
  const { pair } = perftestLatency('', 64, 1000, 'soft0');
  const output = `---
 #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99%   99.9%
 64      1000          1.52           5673.46      2.12     	       9.46        	107.38 		24.98   		5673.46
---`;
  expect(pair?.read(output)).toEqual({ unit: 'ns', min: 3040, median: 4240, p99: 49_960, p999: 11_346_920 });
  expect(pair?.read('nothing')).toBeUndefined();
});

test("ib_write_bw's MiB become MB", () => {
  const { pair } = perftestBandwidth('ib_write_bw', '', 65_536, 1000, 'soft0');
  const row = ' 65536      1000             2155.85            1000		   0.018454';
  expect(pair?.read(row)).toEqual({ unit: 'MB/s', messages: 18_454, rate: 1048.576 });
});

test("ucx_perftest's last line is read", () => {
  const { pair } = ucx(POSIX, 'tag_lat', 64, 2000);
  const row = '                        2000      0.498     0.501     0.501      100      100     1997050     1997050';
  expect(pair?.read(`+---+\n${row}`)).toEqual({ unit: 'ns', median: 996, rate: 104.8576, messages: 1_997_050 });
  expect(pair?.verbs).toBe(false);
  expect(ucx(RC, 'tag_lat', 64, 2000).pair).toMatchObject({ verbs: true, environment: { UCX_IB_GID_INDEX: '0' } });
});

test("fi_pingpong's line is read", () => {
  const { pair } = libfabric('shm', 64, 200);
  const output = `bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec
64k     200     =200     25k         0.66s      0.04    1649.12       0.00`;
  expect(pair?.read(output)).toEqual({ unit: 'ns', median: 3_298_240 });
});

/** A program of two ends that meet at a port, of which the client says a number. */
const PROGRAM = `#!${process.execPath}
const net = require('node:net');
const [end, port, word] = process.argv.slice(2);
if (end === 'server') net.createServer((socket) => socket.end()).listen(Number(port), '127.0.0.1');
else net.connect(Number(port), '127.0.0.1').on('close', () => {
  console.log(word + process.env.ADDED);
  process.exit(word === 'fail' ? 3 : 0);
}).resume();
`;

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'verbs-bench-test-'));
  writeFileSync(join(folder, 'two-ends'), PROGRAM);
  chmodSync(join(folder, 'two-ends'), 0o755);
  vi.stubEnv('PATH', `${folder}${delimiter}${process.env['PATH'] ?? ''}`);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const pairOf = (word: string): Pair => ({
  package: 'two-ends-bin',
  server: (port) => ['server', String(port)],
  client: (port) => ['client', String(port), word],
  environment: { ADDED: '2' },
  read: (output) => (Number(output) > 0 ? { value: Number(output) } : undefined),
});

test('both ends of a program are run, and what the client says is read', async () => {
  expect(await runPair('two-ends', pairOf('4'), process.env)).toEqual({ value: 42 });
});

test.each([
  ['fail', 'two-ends failed: fail2'],
  ['none', 'two-ends failed: none2'],
])('a client that says "%s" is left out', async (word, message) => {
  await expect(runPair('two-ends', pairOf(word), process.env)).rejects.toMatchObject({ name: 'Skipped', message });
});

test('a program that is missing is left out, with its package', async () => {
  await expect(runPair('no-such-program', pairOf('4'), process.env)).rejects.toMatchObject({
    name: 'Skipped',
    message: "no-such-program is not installed: it is in Debian's two-ends-bin (npm run bench -- --install)",
  });
});
