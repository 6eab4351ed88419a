import { describe, expect, it } from 'vitest';
import {
  ether,
  geneve,
  gre,
  gtpu,
  headers,
  ipv4,
  ipv6,
  mpls,
  nvgre,
  packet,
  parseHeaders,
  udp,
  vlan,
  vxlan,
} from '../src/index.js';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

const mac = ether({ dst: '01:50:56:19:20:a7', src: '24-8A-07-A5-28-C8' });
const ip = ipv4({ src: '1.1.1.1', dst: '2.2.2.2', dontFragment: true });
const ETHER = '0150561920a7248a07a528c80800';
const IP = (protocol: string) => `450000000000400040${protocol}00000101010102020202`;

describe('headers()', () => {
  it.each([
    ['VXLAN', [udp(), vxlan({ vni: 7777777 })], `${IP('11')}000012b5000000000800000076adf100`],
    ['GENEVE', [udp(), geneve({ vni: 2 })], `${IP('11')}000017c1000000000000655800000200`],
    ['GRE', [gre({ key: 0x12345678 })], `${IP('2f')}2000655812345678`],
    ['GRE with IPv4', [gre({ key: 0x12345678, protocol: 0x0800 })], `${IP('2f')}2000080012345678`],
    ['GRE of version 1', [gre({ key: 0x12345678, version: 1 })], `${IP('2f')}2001655812345678`],
    ['GRE with all', [gre({ checksum: 0xabcd, key: 1, sequence: 2 })], `${IP('2f')}b0006558abcd00000000000100000002`],
    ['NVGRE', [nvgre({ vsid: 0x123456, flowId: 0x9f })], `${IP('2f')}200065581234569f`],
    ['MPLS over UDP', [udp(), mpls({ label: 16 })], `${IP('11')}000019eb0000000000010140`],
    ['GTP-U', [udp(), gtpu({ teid: 0x01020304 })], `${IP('11')}000008680000000030ff000001020304`],
    [
      'GTP-U with the extension word',
      [udp(), gtpu({ teid: 1, sequence: 0x1234, nPdu: 5 })],
      `${IP('11')}000008680000000033ff00000000000112340500`,
    ],
    [
      'GTP-U with a PDU session container',
      [udp(), gtpu({ teid: 1, extensions: [{ type: 0x85, content: Uint8Array.of(0x10, 9) }] })],
      `${IP('11')}000008680000000034ff0000000000010000008501100900`,
    ],
  ])('%s: the bytes of the RFC, lengths and checksums 0', (_name, tunnel, expected) => {
    expect(hex(headers(mac, ip, ...tunnel))).toBe(ETHER + expected);
  });

  it('names what follows: VLAN tags, IPv6, stacked labels, IP in IP', () => {
    const v6 = ipv6({ src: '2001:db8::1', dst: '2001:db8::2', trafficClass: 0xb9, flowLabel: 0xabcde });
    expect(
      hex(
        headers(
          mac,
          vlan({ vid: 0xc0c, pcp: 5, dei: true, tpid: 0x88a8 }),
          vlan({ vid: 1 }),
          v6,
          udp(),
          vxlan({ vni: 1 }),
        ),
      ),
    ).toBe(
      '0150561920a7248a07a528c888a8bc0c8100000186dd6b9abcde000011ff20010db800000000000000000000000120010db8000000000000000000000002' +
        '000012b50000000008000000000001 00'.replace(' ', ''),
    );
    expect(hex(headers(mac, mpls({ label: 1 }), mpls({ label: 2, exp: 3, ttl: 9 })))).toBe(
      '0150561920a7248a07a528c888470000104000002709',
    );
    expect(hex(headers(ipv4({ src: '1.1.1.1', dst: '2.2.2.2' }), v6, gre())).slice(0, 40)).toBe(
      '4500000000000000402900000101010102020202',
    );
    expect(hex(headers(mac))).toBe(ETHER);
    expect(headers()).toHaveLength(0);
  });

  it('sets the critical bit of GENEVE where an option is', () => {
    const options = [
      { class: 0x0102, type: 0x80, data: Uint8Array.of(1, 2, 3, 4) },
      { class: 3, type: 1 },
    ];
    expect(hex(headers(geneve({ vni: 1, options, oam: true })))).toBe(
      '03c06558000001000102800101020304 00030100'.replace(' ', ''),
    );
  });

  it.each([
    [() => ether({ dst: '1:2:3:4:5:6', src: mac2() }), "ether.dst is no MAC address such as '02:00:00:00:00:01'"],
    [() => ether({ dst: new Uint8Array(5), src: mac2() }), 'ether.dst must have 6 bytes, not 5'],
    [() => vlan({ vid: 4096 }), 'vlan.vid must be an integer from 0 to 4095; received 4096'],
    [() => ipv4({ src: '1.1.1', dst: '2.2.2.2' }), 'ipv4.src is no IPv4 address'],
    [() => ipv4({ src: '1.1.1.1', dst: '2.2.2.2', ttl: 256 }), 'ipv4.ttl must be an integer from 0 to 255'],
    [
      () => ipv4({ src: '1.1.1.1', dst: '2.2.2.2', options: new Uint8Array(3) }),
      'ipv4.options must have 0 to 40 bytes',
    ],
    [() => ipv6({ src: '::g', dst: '::1' }), 'ipv6.src is no IPv6 address'],
    [() => ipv6({ src: '::1', dst: '::1\0' }), 'ipv6.dst is no IPv6 address'],
    [() => vxlan({ vni: 2 ** 24 }), 'vxlan.vni must be an integer from 0 to 16777215'],
    [() => vxlan({ vni: 1, vnid: 2 } as never), 'vxlan.vnid is not known here; known are vni, flags'],
    [() => vxlan(undefined as never), 'vxlan must be an object'],
    [
      () => geneve({ vni: 1, options: [{ class: 1, type: 1, data: new Uint8Array(2) }] }),
      'geneve.options[0].data must have 0 to 124 bytes in steps of 4',
    ],
    [
      () =>
        geneve({
          vni: 1,
          options: Array.from({ length: 3 }, () => ({ class: 1, type: 1, data: new Uint8Array(124) })),
        }),
      'geneve.options have 384 bytes together',
    ],
    [() => gre({ key: 2 ** 32 }), 'gre.key must be an integer from 0 to 4294967295'],
    [() => nvgre({ vsid: -1 }), 'nvgre.vsid must be an integer'],
    [() => mpls({ label: 1.5 }), 'mpls.label must be an integer from 0 to 1048575; received 1.5'],
    [
      () => gtpu({ teid: 1, extensions: [{ type: 0x85, content: new Uint8Array(4) }] }),
      'gtpu.extensions[0].content must have 2, 6, 10',
    ],
    [() => headers(ip), 'ipv4.protocol must be given: no next header implies it'],
    [() => headers(ip, udp()), 'udp.dstPort must be given: no next header implies it'],
    [() => headers(mac, udp({ dstPort: 1 })), 'headers have udp behind ether, but no EtherType announces it'],
    [() => headers(mac, mac), 'headers have ether behind ether'],
    [() => headers(ip, vxlan({ vni: 1 })), 'headers have vxlan behind ipv4, but no IP protocol announces it'],
    [() => headers(udp(), ip), 'udp.dstPort must be given: no port announces ipv4'],
    [
      () => headers(vxlan({ vni: 1 }), udp({ dstPort: 1 })),
      'headers have udp behind vxlan, which carries Ethernet frames',
    ],
    [() => headers(vxlan({ vni: 1 }), ip), 'headers have ipv4 behind vxlan, which carries Ethernet frames'],
    [() => headers(geneve({ vni: 1 }), udp({ dstPort: 1 })), 'headers have udp behind geneve, but no EtherType'],
    [() => headers(gre(), vxlan({ vni: 1 })), 'headers have vxlan behind gre, but no EtherType'],
    [() => headers(mpls({ label: 1 }), gre()), 'headers have gre behind mpls, but no EtherType'],
    [() => headers(gtpu({ teid: 1 }), udp({ dstPort: 1 })), 'headers have udp behind gtpu, but no EtherType'],
    [() => packet(udp({ dstPort: 1 }) as never), 'row must be an array of headers from ether(), ipv4()'],
    [() => headers(mac, {} as never), 'headers[1] must be a header from ether(), ipv4()'],
  ])('says what is wrong with a field by its name (%#)', (build, message) => {
    expect(build).toThrow(message);
  });

  it('keeps the bytes that it was given as they were', () => {
    const src = Uint8Array.of(1, 1, 1, 1);
    const header = ipv4({ src, dst: '2.2.2.2', protocol: 17 });
    src.fill(9);
    expect(hex(headers(header))).toContain('01010101');
  });
});

describe('packet()', () => {
  it('fills in what a host would, and leaves the checksum of a tunnel 0', () => {
    const inner = [mac, ip, udp({ srcPort: 1234, dstPort: 5678 })];
    const frame = packet([mac, ip, udp(), vxlan({ vni: 7777777 }), ...inner], new Uint8Array(58).fill(0x61));
    const { layers, payload } = parseHeaders(frame);
    expect(layers.map(({ name, offset }) => [name, offset])).toEqual([
      ['ether', 0],
      ['ipv4', 14],
      ['udp', 34],
      ['vxlan', 42],
      ['ether', 50],
      ['ipv4', 64],
      ['udp', 84],
    ]);
    expect(layers[1]?.fields).toMatchObject({ totalLength: 136, checksum: 0x3460 });
    expect(layers[2]?.fields).toMatchObject({ length: 116, checksum: 0 });
    expect(layers[5]?.fields).toMatchObject({ totalLength: 86 });
    expect(payload).toHaveLength(58);
    // The sum over pseudo header, header and data, with its checksum in place, is all ones.
    const udpBytes = frame.subarray(84);
    const pseudo = Buffer.from('0101010102020202001100' + '42', 'hex');
    let sum = 0;
    for (const bytes of [pseudo, udpBytes]) {
      for (let i = 0; i < bytes.length; i += 2) sum += (bytes[i] ?? 0) * 256 + (bytes[i + 1] ?? 0);
    }
    expect(sum % 0xffff).toBe(0);
  });

  it('keeps what was given', () => {
    const frame = packet([
      ipv4({ src: '1.1.1.1', dst: '2.2.2.2', totalLength: 7, checksum: 8 }),
      udp({ dstPort: 1, length: 9, checksum: 10 }),
    ]);
    expect(hex(frame)).toBe('4500000700000000401100080101010102020202' + '000000010009000a');
  });
});

function mac2(): string {
  return '02:00:00:00:00:02';
}
