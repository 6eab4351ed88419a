import { describe, expect, it } from 'vitest';
import { dissect, opcodeOf } from '../src/packets/index.js';
import { ipv6 } from '../src/packets/layer-reader.js';

const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex.replace(/\s/g, ''), 'hex'));
const names = (hex: string, link: 'ip' | 'ethernet' = 'ip') => dissect(bytes(hex), link).layers.map(({ name }) => name);

const IP = (protocol: string, length = '0050') => `4500 ${length} 0001 4000 40 ${protocol} beef 7f000001 7f000002`;
const BTH_ACK = '11 00 ffff 00 000012 00 000007';
const ICRC = 'aabbccdd';

/** An acknowledgement from an adapter, with its checksum, as the specification of RoCE v2 computes it. */
const RIGHT = '45020030000000004011 3cb9 7f000002 7f000001 c0de12b7001c0000 1140ffff00000011 00 123456 00000001';

describe('dissect', () => {
  it('reads fields that begin and end within a byte', () => {
    const [ip] = dissect(bytes(`${IP('2f')} 00006558 ${BTH_ACK} 00000001 ${ICRC}`), 'ip').layers;
    expect(ip?.fields.slice(0, 2).map(({ text }) => text)).toEqual(['4', '5']);
    expect(ip?.fields.find(({ name }) => name === 'flags')).toMatchObject({ text: '0x2', meaning: 'do not fragment' });
  });

  it('knows plain RoCE v2, over IPv4 and IPv6, with an Ethernet header and a VLAN', () => {
    const roce = `c000 12b7 001c 0000 ${BTH_ACK} 00000001 ${ICRC}`;
    expect(names(`${IP('11', '0030')} ${roce}`)).toEqual(['IPv4', 'UDP', 'BTH', 'AETH', 'ICRC']);
    const six = `60000000 001c 11 40 ${'00'.repeat(15)}01 ${'00'.repeat(15)}01`;
    expect(names(`${six} ${roce}`)).toEqual(['IPv6', 'UDP', 'BTH', 'AETH', 'ICRC']);
    const ether = '020000000002 020000000001 8100 0005 0800';
    const { layers, ip, transport } = dissect(bytes(`${ether} ${IP('11', '0030')} ${roce}`), 'ethernet');
    expect(layers.map(({ name }) => name)).toEqual(['Ethernet', 'VLAN', 'IPv4', 'UDP', 'BTH', 'AETH', 'ICRC']);
    expect(ip).toMatchObject({ source: '127.0.0.1', destination: '127.0.0.2' });
    expect(transport).toMatchObject({ destQpn: 0x12, psn: 7, syndrome: 0, msn: 1 });
  });

  it('finds an RDMA packet behind a tunnel header of any length by its checksum', () => {
    const packet = bytes(`${IP('11', '0030')} c000 12b7 001c 0000 ${BTH_ACK} 00000001 ${ICRC}`);
    expect(dissect(packet, 'ip').icrc).toBe(false);
    // The right checksum of this packet, with the outer headers of a tunnel to port 7777 and 12 bytes of the user.
    const plain = bytes(`${IP('11', '003c')} c000 1e61 0028 0000 ${'ab'.repeat(12)} ${BTH_ACK} 00000001 ${ICRC}`);
    expect(dissect(plain, 'ip')).toMatchObject({ problem: 'no RoCE v2: UDP port 7777' });
    seal(plain, 28, 12);
    const found = dissect(plain, 'ip');
    expect(found.layers.map(({ name }) => name)).toEqual([
      'outer IPv4',
      'outer UDP',
      'tunnel header',
      'BTH',
      'AETH',
      'ICRC',
    ]);
    expect(found).toMatchObject({ tunnels: ['tunnel'], icrc: true });
  });

  it("finds it behind a header of the user's own on the port of a known tunnel, too", () => {
    const packet = bytes(`${IP('11', '003c')} c000 12b5 0028 0000 ${'ab'.repeat(12)} ${BTH_ACK} 00000001 ${ICRC}`);
    expect(dissect(packet, 'ip').tunnels).toEqual(['VXLAN']);
    seal(packet, 28, 12);
    const { layers, tunnels, icrc } = dissect(packet, 'ip');
    expect(layers.map(({ name }) => name)).toEqual(['outer IPv4', 'outer UDP', 'tunnel header', 'BTH', 'AETH', 'ICRC']);
    expect([tunnels, icrc]).toEqual([['tunnel'], true]);
  });

  it('goes through VXLAN, GENEVE, GRE with a key, GTP-U and MPLS to the packet inside', () => {
    const inner = `${IP('11', '0030')} c000 12b7 001c 0000 ${BTH_ACK} 00000001 ${ICRC}`;
    const ether = '020000000002 020000000001 0800';
    const rest = ['IPv4', 'UDP', 'BTH', 'AETH', 'ICRC'];
    const udp = (port: string) => `c000 ${port} 0000 0000`;
    expect(names(`${IP('11')} ${udp('12b5')} 0800000000002a00 ${ether} ${inner}`)).toEqual([
      ...['outer IPv4', 'outer UDP', 'VXLAN', 'Ethernet'],
      ...rest,
    ]);
    expect(names(`${IP('11')} ${udp('17c1')} 01006558 00002a00 00000000 ${ether} ${inner}`)).toEqual([
      ...['outer IPv4', 'outer UDP', 'GENEVE', 'Ethernet'],
      ...rest,
    ]);
    expect(names(`${IP('2f')} 20000800 00002a00 ${inner}`)).toEqual(['outer IPv4', 'GRE', ...rest]);
    expect(names(`${IP('11')} ${udp('0868')} 30ff0000 00000001 ${inner}`)).toEqual([
      ...['outer IPv4', 'outer UDP', 'GTP-U'],
      ...rest,
    ]);
    expect(names(`${IP('11')} ${udp('19eb')} 00010040 00020140 ${inner}`)).toEqual([
      ...['outer IPv4', 'outer UDP', 'MPLS'],
      ...rest,
    ]);
  });

  it('checks the invariant CRC', () => {
    const packet = bytes(`${RIGHT} ${ICRC}`);
    seal(packet, 28, 0);
    expect(dissect(packet, 'ip').icrc).toBe(true);
    packet[1] = 0xff; // routers change the type of service,
    packet[8] = 1; // the time to live
    packet[32] = 0xc0; // and the congestion bits
    expect(dissect(packet, 'ip').icrc).toBe(true);
    packet[39] = 0x57; // but not the PSN
    expect(dissect(packet, 'ip').icrc).toBe(false);
    expect(dissect(packet.subarray(0, 44), 'ip').icrc).toBeUndefined();
  });

  it('tells padding from data', () => {
    const write = '0a 30 ffff 00 000012 80 000007 0000000000001000 00000042 00000001';
    const { layers, payload } = dissect(
      bytes(`${IP('11', '0040')} c000 12b7 002c 0000 ${write} 78 000000 ${ICRC}`),
      'ip',
    );
    expect(layers.slice(-3).map(({ name, bytes }) => [name, bytes.length])).toEqual([
      ['payload', 1],
      ['padding', 3],
      ['ICRC', 4],
    ]);
    expect(payload).toBe(1);
  });

  it('names a message of the connection manager', () => {
    const ud = '64 00 ffff 00 000001 00 000007 80010000 00000001';
    const mad = `01 07 02 03 0000 0000 ${'00'.repeat(8)} 0010 0000 00000000 ${'00'.repeat(232)}`;
    const { message, transport } = dissect(bytes(`${IP('11', '0134')} c000 12b7 0120 0000 ${ud} ${mad} ${ICRC}`), 'ip');
    expect(message).toBe('CM REQ: request for a connection');
    expect(transport).toMatchObject({ srcQpn: 1, destQpn: 1 });
  });

  it.each([
    ['a packet that is cut off', `${IP('2f')} 0000`, /ends within GRE/],
    ['nothing', '', /no IP packet/],
    ['an unknown protocol', IP('06'), /IP protocol 6/],
    ['an unknown port', `${IP('11')} c000 0035 0008 0000`, /UDP port 53/],
    [
      'an unknown opcode',
      `${IP('11')} c000 12b7 0008 0000 15 00 ffff 00 000012 00 000007 ${ICRC}`,
      /opcode is unknown/,
    ],
  ])('says where %s ends', (_, hex, message) => {
    expect(dissect(bytes(hex), 'ip').problem).toMatch(message);
  });

  it('survives any bytes', () => {
    const packet = bytes(`${IP('11')} c000 12b5 0000 0000 0800000000002a00 ${BTH_ACK} 00000001 ${ICRC}`);
    for (let at = 0; at < packet.length * 8; at++) {
      const damaged = packet.slice(0, packet.length - (at % 5));
      const byte = damaged[at >> 3];
      if (byte !== undefined) damaged[at >> 3] = byte ^ (1 << (at & 7));
      for (const link of ['ip', 'ethernet'] as const) {
        const { layers } = dissect(damaged, link);
        expect(layers.reduce((sum, layer) => sum + layer.bytes.length, 0)).toBeLessThanOrEqual(damaged.length);
      }
    }
  });
});

describe('opcodeOf', () => {
  it('has the operations of each transport', () => {
    const count = (base: number) => Array.from({ length: 32 }, (_, i) => opcodeOf(base + i)).filter(Boolean).length;
    expect([0x00, 0x20, 0x60, 0xa0].map(count)).toEqual([25, 12, 2, 25]);
    expect(opcodeOf(0x64)).toMatchObject({ name: 'UD SEND Only', extensions: ['DETH'] });
    expect(opcodeOf(0xac)).toMatchObject({ name: 'XRC RDMA READ Request', extensions: ['XRCETH', 'RETH'] });
    expect(opcodeOf(0xb1)).toMatchObject({ name: 'XRC Acknowledge', extensions: ['AETH'], request: false });
    expect(opcodeOf(0x81)?.name).toBe('CNP');
    expect(opcodeOf(0x40)).toBeUndefined();
  });
});

it.each([
  [0n, '::'],
  [1n, '::1'],
  [0xfe80n << 112n, 'fe80::'],
  [(0xfdn << 120n) | 5n, 'fd00::5'],
  [(1n << 112n) | (2n << 32n) | 3n, '1::2:0:3'],
])('IPv6 %# is %s', (value, text) => {
  expect(ipv6(value, 128)).toBe(text);
});

/** Puts the right checksum at the end: a CRC-32 bit by bit, independent of the code under test. */
function seal(packet: Uint8Array, network: number, tunnel: number): void {
  const masked = packet.slice(0, packet.length - 4);
  for (const at of [1, 8, 10, 11, 26, 27, network + tunnel + 4]) masked[at] = 0xff;
  const covered = [
    ...new Uint8Array(8).fill(0xff),
    ...masked.subarray(0, network),
    ...masked.subarray(network + tunnel),
  ];
  let crc = 0xffffffff;
  for (const byte of covered) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  new DataView(packet.buffer).setUint32(packet.length - 4, ~crc >>> 0, true);
}
