import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type CapturedFrame, FrameReader, FrameWriter } from '@verbs/lib/capture-files';
import { ether, headers, ipv4, ipv6, packet, parseHeaders, udp, vlan } from '@verbs/mlx5';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verbs } from './verbs.js';

const ONE = '02:00:00:00:00:0a';
const TWO = '02:00:00:00:00:0b';
const START = 1_700_000_000_000_000_000n;

let directory: string;
const file = (name: string) => join(directory, name);

/** Both sides of a conversation, VLAN tags, both IP versions, a group's address, many lengths. */
function conversation(count: number): CapturedFrame[] {
  return Array.from({ length: count }, (_, i) => {
    const link = [
      ether(i % 2 === 0 ? { src: ONE, dst: i % 7 === 0 ? '01:00:5e:00:00:01' : TWO } : { src: TWO, dst: ONE }),
    ];
    if (i % 5 === 3) link.push(vlan({ vid: 7 }));
    const ip =
      i % 3 === 2 ? ipv6({ src: '2001:db8::a', dst: '2001:db8::b' }) : ipv4({ src: '10.0.0.1', dst: '10.0.0.2' });
    const data = packet(
      [...link, ip, udp({ srcPort: 40_000 + i, dstPort: 40_000 })],
      new Uint8Array(20 + ((i * 37) % 1400)).fill(i),
    );
    return { data, originalLength: data.length, timestamp: START + BigInt(i) * 1_234_567n };
  });
}

function arp(): CapturedFrame {
  const data = Uint8Array.from([
    ...headers(ether({ src: ONE, dst: 'ff:ff:ff:ff:ff:ff', etherType: 0x0806 })),
    ...new Uint8Array(28),
  ]);
  return { data, originalLength: data.length, timestamp: START };
}

function write(name: string, frames: CapturedFrame[]): string {
  using writer = new FrameWriter(file(name), name.endsWith('ng') ? 'pcapng' : 'pcap');
  for (const frame of frames) writer.write(frame);
  writer.finish();
  return file(name);
}

function read(path: string): CapturedFrame[] {
  using reader = new FrameReader(path);
  const frames: CapturedFrame[] = [];
  for (const frame of reader.frames()) frames.push({ ...frame, data: frame.data.slice() });
  return frames;
}

const bytes = (frame: CapturedFrame | undefined) => Buffer.from(frame?.data ?? []).toString('hex');

async function tshark(path: string, ...args: string[]): Promise<string[]> {
  const options = ['ip.check_checksum:TRUE', 'udp.check_checksum:TRUE', 'udp.ignore_ipv6_zero_checksum:TRUE'];
  const { stdout } = await promisify(execFile)('tshark', [
    '-r',
    path,
    ...options.flatMap((option) => ['-o', option]),
    ...args,
  ]);
  return stdout.split('\n').filter(Boolean);
}

/** Runs it and gives the summary. */
async function reformat(...args: string[]): Promise<Record<string, unknown>> {
  const { status, stdout, stderr } = await verbs(['reformat', '--json', ...args]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(stdout) as Record<string, unknown>;
}

const FRAMES = conversation(150);

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'verbs-reformat-test-'));
  write('in.pcap', FRAMES);
  write('mixed.pcap', [...FRAMES.slice(0, 100), arp(), ...FRAMES.slice(100)]);
});

afterAll(() => {
  rmSync(directory, { recursive: true });
});

const V4 = 'src=10.1.0.1,dst=10.1.0.2';
const V6 = 'src=2001:db8::1,dst=2001:db8::2';

describe('verbs reformat', { timeout: 120_000 }, () => {
  it.each([
    ['vxlan,vni=42', 'vxlan,vni=42', V4, 'udp:vxlan:eth'],
    ['vxlan,vni=42', 'vxlan', V6, 'udp:vxlan:eth'],
    ['geneve,vni=7', 'geneve,vni=7', V4, 'udp:geneve:eth'],
    ['gre,key=0x12345678', 'gre,key=0x12345678', V4, 'gre:eth'],
    ['gre', 'gre', V6, 'gre:eth'],
    ['nvgre,vsid=5', 'nvgre,vsid=5', V4, 'gre:eth'],
  ])('%s and back is the same file: %s, %s', async (encap, decap, addresses, protocols) => {
    const summary = await reformat('--encap', `${encap},${addresses}`, file('mixed.pcap'), file('tunnel.pcap'));
    expect(summary).toMatchObject({ frames: 151, written: 151, unchanged: 0, dropped: {}, outputFormat: 'pcap' });
    // No checksum is wrong, no length, and nothing is malformed: outside or inside.
    const wrong =
      '_ws.malformed || _ws.expert.severity >= 0x600000 || ip.checksum.status == 0 || udp.checksum.status == 0';
    expect(await tshark(file('tunnel.pcap'), '-Y', wrong)).toEqual([]);
    const layers = await tshark(file('tunnel.pcap'), '-T', 'fields', '-e', 'frame.protocols');
    expect(layers).toHaveLength(151);
    const outer = addresses === V4 ? 'ip' : 'ipv6';
    for (const each of layers) expect(each.startsWith(`eth:ethertype:${outer}:${protocols}:ethertype:`)).toBe(true);
    await reformat('--decap', decap, file('tunnel.pcap'), file('back.pcap'));
    expect(readFileSync(file('back.pcap')).equals(readFileSync(file('mixed.pcap')))).toBe(true);
  });

  it.each([
    ['gre,l3', 'gre,l3', V4, 'gre:ip'],
    ['geneve,vni=7,l3', 'geneve,l3', V6, 'udp:geneve:ip'],
    // tshark 4.4 names no ip there, though it shows it.
    ['mplsoudp,label=16', 'mplsoudp,label=16', V4, 'udp:mpls:'],
    ['gtpu,teid=99', 'gtpu,teid=99', V4, 'udp:gtp:ip'],
  ])('%s gives the packets a new MAC header: %s, %s', async (encap, decap, addresses, protocols) => {
    const summary = await reformat('--encap', `${encap},${addresses}`, file('mixed.pcap'), file('tunnel.pcapng'));
    expect(summary).toMatchObject({ frames: 151, written: 151, unchanged: 1, dropped: {}, outputFormat: 'pcapng' });
    const wrong =
      '_ws.malformed || _ws.expert.severity >= 0x600000 || ip.checksum.status == 0 || udp.checksum.status == 0';
    expect(await tshark(file('tunnel.pcapng'), '-Y', wrong)).toEqual([]);
    const layers = await tshark(file('tunnel.pcapng'), '-T', 'fields', '-e', 'frame.protocols');
    expect(layers.filter((each) => each.includes(`:${protocols}`))).toHaveLength(150);
    // What no rule takes is written as it was.
    expect(bytes(read(file('tunnel.pcapng'))[100])).toBe(bytes(arp()));
    const back = await reformat(
      '--decap',
      `${decap},dmac=${TWO},smac=${ONE}`,
      file('tunnel.pcapng'),
      file('back.pcap'),
    );
    expect(back).toMatchObject({ frames: 151, written: 150, dropped: { miss: 1 } });
    const frames = read(file('back.pcap'));
    expect(frames.map(({ timestamp }) => timestamp)).toEqual(FRAMES.map(({ timestamp }) => timestamp));
    frames.forEach((frame, i) => {
      const { layers: found } = parseHeaders(FRAMES[i]?.data ?? new Uint8Array());
      const ip = found.find(({ name }) => name === 'ipv4' || name === 'ipv6');
      const mac = headers(ether({ dst: TWO, src: ONE, etherType: ip?.name === 'ipv6' ? 0x86dd : 0x0800 }));
      expect(bytes(frame)).toBe(Buffer.concat([mac, FRAMES[i]?.data.subarray(ip?.offset) ?? mac]).toString('hex'));
    });
  });

  it('writes outer headers as they were asked for', async () => {
    const encap = `vxlan,vni=0xabcdef,${V4},dmac=02:00:00:00:00:01,smac=02:00:00:00:00:02,vlan=9,ttl=3,tos=0xb9`;
    await reformat('--encap', encap, file('in.pcap'), file('out.pcap'));
    const [first] = read(file('out.pcap'));
    const { layers } = parseHeaders(first?.data ?? new Uint8Array());
    expect(layers[0]?.fields).toMatchObject({ dst: '02:00:00:00:00:01', src: '02:00:00:00:00:02' });
    expect(layers[1]?.fields).toMatchObject({ vid: 9 });
    expect(layers[2]?.fields).toMatchObject({ src: '10.1.0.1', dst: '10.1.0.2', ttl: 3, dscp: 46, ecn: 1 });
    expect(layers[3]?.fields).toMatchObject({ dstPort: 4789, checksum: 0 });
    expect(layers[4]?.fields).toMatchObject({ vni: 0xabcdef });
    await reformat('--decap', 'vxlan', file('out.pcap'), file('back.pcap'));
    expect(readFileSync(file('back.pcap')).equals(readFileSync(file('in.pcap')))).toBe(true);
  });

  it('drops what is in another tunnel, and knows the frames around it again', async () => {
    await reformat('--encap', `vxlan,vni=1,${V4}`, file('in.pcap'), file('one.pcap'));
    await reformat('--encap', `vxlan,vni=2,${V4}`, file('in.pcap'), file('two.pcap'));
    const [one, two] = [read(file('one.pcap')), read(file('two.pcap'))];
    const mixed = FRAMES.flatMap((_, i) => (i % 3 === 0 ? [two[i]] : [one[i]])).filter((frame) => frame !== undefined);
    write('both.pcapng', mixed);
    const summary = await reformat('--decap', 'vxlan,vni=1', file('both.pcapng'), file('only.pcapng'));
    expect(summary).toMatchObject({ frames: 150, written: 100, dropped: { miss: 50 } });
    const wanted = FRAMES.filter((_, i) => i % 3 !== 0);
    expect(read(file('only.pcapng'))).toEqual(wanted);
  });

  it('keeps that a frame was cut short, and drops what no queue pair sends', async () => {
    const [first] = FRAMES;
    const whole = first?.data ?? new Uint8Array();
    const long = packet(
      [ether({ src: ONE, dst: TWO }), ipv4({ src: '1.1.1.1', dst: '2.2.2.2', protocol: 253 })],
      new Uint8Array(5000),
    );
    write('odd.pcapng', [
      { data: whole, originalLength: whole.length + 500, timestamp: START },
      { data: whole.subarray(0, 10), originalLength: 10, timestamp: START },
      { data: long, originalLength: long.length, timestamp: START },
      { data: whole, originalLength: whole.length, timestamp: undefined },
    ]);
    const summary = await reformat('--encap', `vxlan,vni=1,${V4}`, file('odd.pcapng'), file('out.pcapng'));
    expect(summary).toMatchObject({
      frames: 4,
      written: 2,
      cutShort: 1,
      dropped: { too_short_to_send: 1, too_long_to_send: 1 },
    });
    const out = read(file('out.pcapng'));
    expect(out.map(({ originalLength }) => originalLength)).toEqual([whole.length + 550, whole.length + 50]);
    expect(out.map(({ timestamp }) => timestamp)).toEqual([START, undefined]);
  });

  it('tells people what it did', async () => {
    const { stdout } = await verbs(['reformat', '--encap', `gre,l3,${V4}`, file('mixed.pcap'), file('out.pcap')]);
    expect(stdout).toMatch(/^151 frames \([\d.]+ kB\) read from .*mixed\.pcap in [\d.]+ s$/m);
    expect(stdout).toMatch(/^151 frames \([\d.]+ kB\) written to .*out\.pcap$/m);
    expect(stdout).toMatch(/^ {2}1 of them unchanged: no rule takes them$/m);
    const { stdout: back } = await verbs(['reformat', '--decap', 'vxlan', file('in.pcap'), file('none.pcap')]);
    expect(back).toMatch(/^0 frames \(0 B\) written to /m);
    expect(back).toMatch(/^150 frames dropped: in no such tunnel$/m);
  });

  it.each([
    [[], 'either --encap or --decap is needed'],
    [['--encap', 'vxlan', '--decap', 'vxlan'], "cannot be used with option '--decap <tunnel>'"],
    [['--encap', 'ipip'], '"ipip" is no tunnel: there are vxlan, geneve, gre, nvgre, mplsoudp, gtpu'],
    [['--encap', `vxlan,${V4}`], `"vxlan,${V4}" needs vni=`],
    [['--encap', 'gre,src=10.0.0.1'], 'needs dst=, an IPv4 or IPv6 address'],
    [['--encap', 'gre,src=10.0.0.1,dst=::1'], 'are not of one IP version'],
    [['--encap', `vxlan,vni=16777216,${V4}`], 'vni=16777216 is no number from 0 to 16777215'],
    [['--encap', `vxlan,vni=1,${V4},l3`], '"l3" is no option of vxlan: there are vni=, src=, dst='],
    [['--encap', `gre,${V4},ttl=1,ttl=2`], 'ttl= is there twice'],
    [['--encap', `gre,${V4},dmac=2:0`], 'dmac=2:0 is no MAC address such as 02:00:00:00:00:01'],
    [['--decap', 'gtpu'], 'needs dmac= and smac=, the Ethernet header'],
    [['--decap', `vxlan,dmac=${ONE}`], 'dmac=, smac= and vlan= are for tunnels of IP packets'],
  ])('%j is a wrong command line', async (args, message) => {
    const { status, stderr, stdout } = await verbs(['reformat', ...args, file('in.pcap'), file('wrong.pcap')]);
    expect(stderr).toContain(message);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(existsSync(file('wrong.pcap'))).toBe(false);
  });

  it('says what is wrong with a file, and leaves no output behind', async () => {
    writeFileSync(file('cut.pcap'), readFileSync(file('in.pcap')).subarray(0, -7));
    writeFileSync(file('text.txt'), 'no capture at all');
    const failures: [from: string, to: string, message: string, code?: number][] = [
      ['none.pcap', 'out1.pcap', 'none.pcap: no such file or directory (ENOENT)'],
      ['text.txt', 'out1.pcap', 'text.txt is neither a pcap nor a pcapng file'],
      ['cut.pcap', 'kept.pcap', 'cut.pcap is cut off in frame 150'],
      ['in.pcap', 'in.pcap', 'are the same file', 2],
      ['in.pcap', 'missing/out1.pcap', 'cannot write'],
    ];
    rmSync(file('none.pcap'), { force: true });
    writeFileSync(file('kept.pcap'), 'precious');
    for (const [from, to, message, code = 1] of failures) {
      const { status, stderr, stdout } = await verbs(['reformat', '--decap', 'vxlan', file(from), file(to)]);
      expect(stderr).toContain(message);
      expect({ status, stdout }).toEqual({ status: code, stdout: '' });
    }
    expect(existsSync(file('out1.pcap'))).toBe(false);
    expect(readFileSync(file('kept.pcap'), 'utf8')).toBe('precious');
    expect(read(file('in.pcap'))).toHaveLength(150);
  });
});
