import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { watch } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startPair } from './pair.js';
import * as programs from './program.js';

const PYTHON = '/usr/bin/python3'; // Debian's own, for which Debian packages its modules
const CHECKER = fileURLToPath(new URL('../icrc/check_icrc.py', import.meta.url));
const TRAFFIC = fileURLToPath(new URL('../icrc/traffic.py', import.meta.url));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'verbs-soft-wire-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

interface Packet {
  protocol: string;
  malformed: boolean;
  opcode: number;
  /** '' or the kind of an acknowledgement: 0 ACK, 1 RNR NAK, 3 NAK. */
  ack: string;
  nak: string;
}

/** Every packet of a capture, as Wireshark's dissectors see it. */
async function dissect(file: string): Promise<Packet[]> {
  const fields = ['_ws.col.Protocol', '_ws.malformed', 'infiniband.bth.opcode'];
  fields.push('infiniband.aeth.syndrome.opcode', 'infiniband.aeth.syndrome.error_code');
  const columns = fields.flatMap((field) => ['-e', field]);
  // Two dissectors of payloads guess wrongly: small ones look like RPC over RDMA, and one reads on in empty datagrams.
  const guesses = ['rpcordma', 'infiniband.eoib'].flatMap((name) => ['--disable-protocol', name]);
  const args = [...guesses, '-r', file, '-T', 'fields', ...columns];
  const { status, stdout, stderr } = await programs.run('tshark', args);
  if (status !== 0) throw new Error(stderr);
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const [protocol = '', malformed = '', opcode = '', ack = '', nak = ''] = line.split('\t');
      return { protocol, malformed: malformed !== '', opcode: Number(opcode), ack, nak };
    });
}

interface Verdict {
  packets: number;
  roce: number;
  checked: { icrc_by_zlib?: number; icrc_by_scapy?: number };
  wrong: unknown[];
}

async function checkIcrc(file: string): Promise<Verdict & { status: number | null }> {
  const { status, stdout, stderr } = await programs.run(PYTHON, [CHECKER, file]);
  if (stdout === '') throw new Error(stderr);
  return { status, ...(JSON.parse(stdout) as Verdict) };
}

/** All packets are RoCE, well-formed, and right for both computations of the ICRC. Returns them. */
async function prove(file: string, { ipv6 = false } = {}): Promise<Packet[]> {
  const packets = await dissect(file);
  expect(packets.filter(({ protocol, malformed }) => protocol !== 'RRoCE' || malformed)).toEqual([]);
  expect(packets.length).toBeGreaterThan(0);
  const count = packets.length;
  const checked = ipv6 ? { icrc_by_zlib: count } : { icrc_by_zlib: count, icrc_by_scapy: count };
  expect(await checkIcrc(file)).toEqual({ status: 0, packets: count, roce: count, checked, wrong: [] });
  return packets;
}

const device = (name: string, ...options: string[]) =>
  [name, 'link=udp', `capture=${join(folder, '%d.pcapng')}`, ...options].join(',');

async function grownTo(file: string, size: number): Promise<void> {
  // Made first, so that it sees what happens after the first look.
  const changes = watch(file);
  if (statSync(file).size >= size) return;
  for await (const change of changes) if (change.eventType === 'change' && statSync(file).size >= size) return;
}

/** Takes off the block that the kernel did not write to its end, because it killed the process between two pages. */
function cutToWholeBlocks(file: string): void {
  const bytes = readFileSync(file);
  let end = 0;
  while (end + 8 <= bytes.length && end + bytes.readUInt32LE(end + 4) <= bytes.length)
    end += bytes.readUInt32LE(end + 4);
  truncateSync(file, end);
}

const opcodesOf = (packets: Packet[]) => [...new Set(packets.map(({ opcode }) => opcode))].sort((a, b) => a - b);
const naksOf = (packets: Packet[]) =>
  [...new Set(packets.flatMap(({ ack, nak }) => (ack === '3' ? [nak] : [])))].sort();

// From SEND First (0) to READ Response Only (16), and Acknowledge (17): all RC opcodes but those of atomics and
// invalidation.
const rcOpcodes = [...Array(18).keys()];
const udOpcodes = [100, 101]; // SEND Only, SEND Only with Immediate

async function traffic(devices: string[], parts: string[], configuration: string): Promise<void> {
  const outcome = await programs.runOnSoft(PYTHON, [TRAFFIC, ...devices, ...parts], configuration);
  expect(outcome).toEqual({ status: 0, signal: null, stdout: '', stderr: '' });
}

describe('tshark and two other computations of the ICRC agree with every packet', () => {
  test('of all operations over IPv4, at either end', async () => {
    const configuration = [device('four0'), device('four1')].join(';');
    await traffic(['four0', 'four1'], ['rc', 'nak', 'ud'], configuration);
    for (const name of ['four0', 'four1']) {
      const packets = await prove(join(folder, `${name}.pcapng`));
      expect(opcodesOf(packets)).toEqual([...rcOpcodes, ...udOpcodes]);
      expect(packets.some(({ ack }) => ack === '1')).toBe(true); // RNR NAK
      expect(naksOf(packets)).toEqual(['1', '2']); // invalid request, remote access error
    }
  });

  test('of all operations over IPv6', async () => {
    await traffic(['six', 'six'], ['rc', 'nak', 'ud'], device('six', 'addr=::1'));
    const packets = await prove(join(folder, 'six.pcapng'), { ipv6: true });
    expect(opcodesOf(packets)).toEqual([...rcOpcodes, ...udOpcodes]);
  });

  // Not by ping-pong programs: one that has ended cannot acknowledge again what its peer has not heard of.
  test('of a link that loses packets, with the NAKs that tell of it', async () => {
    const names = ['lossy0', 'lossy1'];
    const configuration = names.map((name, seed) => device(name, 'drop=0.05', `seed=${seed}`)).join(';');
    await traffic(names, ['rc', 'bulk'], configuration);
    await prove(join(folder, 'lossy0.pcapng'));
    const packets = await prove(join(folder, 'lossy1.pcapng'));
    expect(naksOf(packets)).toEqual(['0']); // PSN sequence error
  });

  test('of a program that was killed in the middle', async () => {
    const file = join(folder, 'killed.pcapng');
    const configurations = [device('killed', 'capture_limit=500000')];
    const { server } = await startPair('ibv_rc_pingpong', ['-n', '1000000000'], configurations);
    await grownTo(file, 100_000);
    server.process.kill('SIGKILL');
    await server.ended;
    cutToWholeBlocks(file);
    await prove(file);
  });
});

test('the checker of the ICRC finds one wrong bit', async () => {
  await traffic(['bit', 'bit'], ['ud'], device('bit'));
  const good = join(folder, 'bit.pcapng');
  expect((await checkIcrc(good)).status).toBe(0);
  const bytes = readFileSync(good);
  // The last block of the file is a packet: its padding, options and length field are shorter than its frame.
  const position = bytes.length - 1000;
  bytes.writeUInt8(bytes.readUInt8(position) ^ 1, position);
  const bad = join(folder, 'bad.pcapng');
  writeFileSync(bad, bytes);
  const { status, wrong } = await checkIcrc(bad);
  expect(status).toBe(1);
  expect(wrong).toMatchObject([{ by: 'icrc_by_zlib' }, { by: 'icrc_by_scapy' }]);
});
