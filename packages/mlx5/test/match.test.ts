import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeMatch, encodeMatch, type MatchParams } from '../src/index.js';
import { PARTS, type Place } from '../src/match/layout.js';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

/** The bytes that are not 0, as offset and value: what a reader of the device's manual would look for. */
function bytesOf(buffer: Uint8Array): Record<number, number> {
  return Object.fromEntries([...buffer.entries()].filter(([, byte]) => byte !== 0));
}

describe('encodeMatch()', () => {
  it('puts the fields where the layout has them', () => {
    const { mask, value, matchCriteriaEnable } = encodeMatch({
      outer: { ipProtocol: 17, udpDport: 4789 },
      misc: { vxlanVni: 42 },
    });
    expect(mask).toHaveLength(0x180);
    expect(value).toHaveLength(0x180);
    expect(bytesOf(mask)).toEqual({ 16: 255, 30: 255, 31: 255, 0x54: 255, 0x55: 255, 0x56: 255 });
    expect(bytesOf(value)).toEqual({ 16: 17, 30: 0x12, 31: 0xb5, 0x56: 42 });
    expect(matchCriteriaEnable).toBe(1 | 2);
  });

  // By the table of the device's structure: part, byte in it, bits of that byte.
  it.each<[MatchParams, Record<number, number>]>([
    [{ outer: { smac: '01:02:03:04:05:06' } }, { 0: 1, 1: 2, 2: 3, 3: 4, 4: 5, 5: 6 }],
    [{ outer: { ethertype: 0x0800 } }, { 6: 8 }],
    [{ outer: { dmac: '01:02:03:04:05:06' } }, { 8: 1, 9: 2, 10: 3, 11: 4, 12: 5, 13: 6 }],
    [{ outer: { firstPrio: 7, firstVid: 0xabc } }, { 14: 0xea, 15: 0xbc }],
    [{ outer: { firstCfi: true } }, { 14: 0x10 }],
    [{ outer: { ipDscp: 63, ipEcn: 1 } }, { 17: 0xfd }],
    [{ outer: { cvlanTag: true } }, { 18: 0x80 }],
    [{ outer: { svlanTag: 1 } }, { 18: 0x40 }],
    [{ outer: { frag: true } }, { 18: 0x20 }],
    [{ outer: { ipVersion: 15 } }, { 18: 0x1e }],
    [{ outer: { tcpFlags: 0x1ff } }, { 18: 1, 19: 255 }],
    [{ outer: { tcpSport: 0x0102, tcpDport: 0x0304 } }, { 20: 1, 21: 2, 22: 3, 23: 4 }],
    [{ outer: { ipv4Ihl: 5, l3Ok: true, l4Ok: true, ipv4ChecksumOk: true, l4ChecksumOk: true } }, { 26: 0x5f }],
    [{ outer: { ttlHoplimit: 9 } }, { 27: 9 }],
    [{ outer: { udpSport: 0x0102 } }, { 28: 1, 29: 2 }],
    [{ outer: { srcIp: '1.2.3.4' } }, { 44: 1, 45: 2, 46: 3, 47: 4 }],
    [{ outer: { dstIp: '100::9' } }, { 48: 1, 63: 9 }],
    [{ misc: { greCPresent: true, greKPresent: true, greSPresent: true, sourceVhcaPort: 1 } }, { 0x40: 0xb1 }],
    [{ misc: { sourceSqn: 0x010203 } }, { 0x41: 1, 0x42: 2, 0x43: 3 }],
    [{ misc: { sourceEswitchOwnerVhcaId: 0x0102, sourcePort: 0x0304 } }, { 0x44: 1, 0x45: 2, 0x46: 3, 0x47: 4 }],
    [{ misc: { outerSecondVid: 0xabc, innerSecondPrio: 7 } }, { 0x48: 0x0a, 0x49: 0xbc, 0x4a: 0xe0 }],
    [{ misc: { outerSecondCvlanTag: true, innerSecondSvlanTag: true } }, { 0x4c: 0x90 }],
    [{ misc: { greProtocol: 0x6558 } }, { 0x4e: 0x65, 0x4f: 0x58 }],
    [{ misc: { greKey: 0x12345678 } }, { 0x50: 0x12, 0x51: 0x34, 0x52: 0x56, 0x53: 0x78 }],
    [{ misc: { bthOpcode: 0x81 } }, { 0x57: 0x81 }],
    [{ misc: { geneveVni: 2, geneveOam: true, geneveTlvOption0Exist: true } }, { 0x5a: 2, 0x5b: 3 }],
    [{ misc: { outerIpv6FlowLabel: 0x12345 } }, { 0x5d: 1, 0x5e: 0x23, 0x5f: 0x45 }],
    [{ misc: { innerIpv6FlowLabel: 0x12345 } }, { 0x61: 1, 0x62: 0x23, 0x63: 0x45 }],
    [{ misc: { geneveOptLen: 0x3f, geneveProtocolType: 0x6558 } }, { 0x65: 0x3f, 0x66: 0x65, 0x67: 0x58 }],
    [{ misc: { bthDstQp: 0xd2 } }, { 0x6b: 0xd2 }],
    [{ misc: { innerEspSpi: 1, outerEspSpi: 2 } }, { 0x6f: 1, 0x73: 2 }],
    [{ inner: { ipProtocol: 6, dstIp: '0.0.0.9' } }, { 0x90: 6, 0xbf: 9 }],
    [
      { misc2: { outerFirstMplsLabel: 16, outerFirstMplsSBos: true, outerFirstMplsTtl: 64 } },
      { 0xc1: 1, 0xc2: 1, 0xc3: 64 },
    ],
    [
      { misc2: { innerFirstMplsExp: 7, outerFirstMplsOverGreTtl: 1, outerFirstMplsOverUdpLabel: 1 } },
      { 0xc6: 0x0e, 0xcb: 1, 0xce: 0x10 },
    ],
    [
      { misc2: { metadataRegC7: 1, metadataRegC0: 2, metadataRegA: 3, metadataRegB: 4 } },
      { 0xd3: 1, 0xef: 2, 0xf3: 3, 0xf7: 4 },
    ],
    [
      { misc3: { innerTcpSeqNum: 1, outerTcpSeqNum: 2, innerTcpAckNum: 3, outerTcpAckNum: 4 } },
      { 0x103: 1, 0x107: 2, 0x10b: 3, 0x10f: 4 },
    ],
    [
      { misc3: { outerVxlanGpeVni: 5, outerVxlanGpeNextProtocol: 6, outerVxlanGpeFlags: 7 } },
      { 0x113: 5, 0x114: 6, 0x115: 7 },
    ],
    [
      { misc3: { icmpHeaderData: 1, icmpv6HeaderData: 2, icmpType: 3, icmpCode: 4, icmpv6Type: 5, icmpv6Code: 6 } },
      { 0x11b: 1, 0x11f: 2, 0x120: 3, 0x121: 4, 0x122: 5, 0x123: 6 },
    ],
    [
      { misc3: { geneveTlvOption0Data: 1, gtpuTeid: 2, gtpuMsgType: 3, gtpuMsgFlags: 4 } },
      { 0x127: 1, 0x12b: 2, 0x12c: 3, 0x12d: 4 },
    ],
    [{ misc3: { gtpuDw2: 1, gtpuFirstExtDw0: 2, gtpuDw0: 3 } }, { 0x133: 1, 0x137: 2, 0x13b: 3 }],
    [
      { misc4: { progSampleFieldValue0: 1, progSampleFieldId0: 2, progSampleFieldId7: 3 } },
      { 0x143: 1, 0x147: 2, 0x17f: 3 },
    ],
    [{ misc5: { macsecTag0: 1, tunnelHeader0: 2, tunnelHeader3: 3 } }, { 0x183: 1, 0x193: 2, 0x19f: 3 }],
  ])('%j', (params, expected) => {
    expect(bytesOf(encodeMatch(params).value)).toEqual(expected);
  });

  it('derives which parts are looked at, and the size', () => {
    const enable = (params: MatchParams) => encodeMatch(params).matchCriteriaEnable;
    expect(enable({})).toBe(0);
    expect(enable({ outer: {}, inner: { ipProtocol: { mask: 0 } } })).toBe(0);
    expect(enable({ inner: { frag: false } })).toBe(4);
    expect(enable({ misc2: { metadataRegA: 0 }, misc3: { icmpType: 8 }, misc4: { progSampleFieldId0: 1 } })).toBe(
      8 | 16 | 32,
    );
    expect(enable({ misc5: { macsecTag0: 1 } })).toBe(64);
    expect(encodeMatch({ misc5: {} }).mask).toHaveLength(0x1c0);
  });

  it('takes masks, prefixes and bytes, and keeps values within their masks', () => {
    const ip = (srcIp: unknown) => {
      const { mask, value } = encodeMatch({ outer: { srcIp: srcIp as string } });
      return [hex(mask.subarray(32, 48)), hex(value.subarray(32, 48))].map((text) => text.replace(/^0{24}/, ''));
    };
    expect(ip('10.1.2.3')).toEqual(['ffffffff', '0a010203']);
    expect(ip('10.1.2.3/20')).toEqual(['fffff000', '0a010000']);
    expect(ip('10.1.2.3/0')).toEqual(['00000000', '00000000']);
    expect(ip({ value: '10.1.2.3', mask: '255.0.0.255' })).toEqual(['ff0000ff', '0a000003']);
    expect(ip({ mask: Uint8Array.of(255, 0, 0, 0) })).toEqual(['ff000000', '00000000']);
    expect(ip('2001:db8::ff/36')).toEqual(['fffffffff00000000000000000000000', '20010db8000000000000000000000000']);
    expect(ip(Uint8Array.of(1, 2, 3, 4))).toEqual(['ffffffff', '01020304']);
    const vni = encodeMatch({ misc: { vxlanVni: { value: 0x2aff, mask: 0xff00 } } });
    expect([bytesOf(vni.mask), bytesOf(vni.value)]).toEqual([{ 0x55: 0xff }, { 0x55: 0x2a }]);
    const mac = encodeMatch({ outer: { dmac: { value: '01:00:5e:00:00:01', mask: '01:00:00:00:00:00' } } });
    expect([bytesOf(mac.mask), bytesOf(mac.value)]).toEqual([{ 8: 1 }, { 8: 1 }]);
  });

  it.each([
    [undefined, 'match must be an object'],
    [{ outter: {} }, 'match.outter is not known here; known are outer, misc, inner'],
    [{ outer: { udpPort: 1 } }, 'match.outer.udpPort is not known here'],
    [{ outer: { udpDport: 65536 } }, 'match.outer.udpDport must be an integer from 0 to 65535; received 65536'],
    [{ outer: { udpDport: '4789' } }, 'match.outer.udpDport must be a number'],
    [{ outer: { ipProtocol: { value: 1 } } }, 'match.outer.ipProtocol.mask must be given'],
    [
      { outer: { ipProtocol: { value: 1, mask: 256 } } },
      'match.outer.ipProtocol.mask must be an integer from 0 to 255',
    ],
    [{ outer: { frag: 2 } }, 'match.outer.frag must be an integer from 0 to 1'],
    [{ outer: { srcIp: '10.0.0.1/33' } }, 'match.outer.srcIp has a prefix that is not from 0 to 32'],
    [{ outer: { srcIp: '10.0.0.1/' } }, 'match.outer.srcIp has a prefix'],
    [{ outer: { srcIp: { value: '10.0.0.1/8', mask: '255.0.0.0' } } }, 'match.outer.srcIp takes either a prefix'],
    [{ outer: { srcIp: { value: '10.0.0.1', mask: '::1' } } }, 'match.outer.srcIp.mask must be of the same IP version'],
    [{ outer: { srcIp: 'nowhere' } }, 'match.outer.srcIp is no IP address'],
    [{ outer: { srcIp: new Uint8Array(5) } }, 'match.outer.srcIp must have 16 bytes, not 5'],
    [{ outer: { smac: 'xx' } }, 'match.outer.smac is no MAC address'],
    [{ misc: [] }, 'match.misc must be an object'],
  ])('refuses %j by its path', (params, message) => {
    expect(() => encodeMatch(params as never)).toThrow(message);
  });
});

/** A field as decodeMatch writes it. */
function fieldOf([, width, kind]: Place): fc.Arbitrary<unknown> {
  const within = (value: number, mask: number) => Number(BigInt(value) & BigInt(mask));
  const max = 2 ** width - 1;
  const byte = fc.nat(255);
  if (kind === 'mac') {
    return fc
      .array(byte, { minLength: 6, maxLength: 6 })
      .map((bytes) => bytes.map((b) => b.toString(16).padStart(2, '0')).join(':'));
  }
  if (kind === 'ip') {
    const v4 = fc.array(byte, { minLength: 4, maxLength: 4 }).map((bytes) => bytes.join('.'));
    // Canonical as it is: no run of zeros to be shortened.
    const v6 = fc
      .array(fc.integer({ min: 0x1000, max: 0xffff }), { minLength: 8, maxLength: 8 })
      .map((all) => all.map((w) => w.toString(16)).join(':'));
    return fc.oneof(v4, v6);
  }
  if (width === 1) return fc.boolean();
  const number = fc.integer({ min: 0, max });
  const masked = fc
    .tuple(number, fc.integer({ min: 1, max: max - 1 }))
    .map(([value, mask]) => ({ value: within(value, mask), mask }));
  return fc.oneof(number, masked);
}

const anyMatch = fc.record(
  Object.fromEntries(
    Object.entries(PARTS).map(([name, layout]) => [
      name,
      fc
        .record(Object.fromEntries(Object.entries<Place>(layout).map(([field, place]) => [field, fieldOf(place)])), {
          requiredKeys: [],
        })
        .filter((fields) => Object.keys(fields).length > 0),
    ]),
  ),
  { requiredKeys: [] },
) as fc.Arbitrary<MatchParams>;

describe('decodeMatch()', () => {
  it('is the inverse of encodeMatch()', () => {
    fc.assert(
      fc.property(anyMatch, (params) => {
        const { mask, value } = encodeMatch(params);
        expect(decodeMatch(mask, value)).toEqual(params);
      }),
      { numRuns: 1000 },
    );
  });

  it('gives back the bytes of any mask and value that fields cover', () => {
    const buffer = fc.uint8Array({ minLength: 0x1c0, maxLength: 0x1c0 });
    fc.assert(
      fc.property(buffer, buffer, (mask, value) => {
        const params = decodeMatch(mask, value);
        const again = encodeMatch(params);
        expect(decodeMatch(again.mask, again.value)).toEqual(params);
        again.mask.forEach((byte, i) => {
          // Only reserved bits are missing.
          expect(byte & ~(mask[i] ?? 0)).toBe(0);
          expect(again.value[i]).toBe((value[i] ?? 0) & byte);
        });
      }),
      { numRuns: 200 },
    );
  });

  it('takes short buffers, and none for the value', () => {
    expect(decodeMatch(new Uint8Array(6).fill(0xff))).toEqual({ outer: { smac: '00:00:00:00:00:00' } });
    expect(decodeMatch(new Uint8Array())).toEqual({});
    expect(() => decodeMatch('ff' as never)).toThrow('mask must be a Uint8Array');
  });
});
