import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ether,
  geneve,
  gre,
  gtpu,
  type Header,
  headers,
  ipv4,
  ipv6,
  type Layer,
  mpls,
  parseHeaders,
  udp,
  vlan,
  vxlan,
} from '../src/index.js';

const mac = fc.uint8Array({ minLength: 6, maxLength: 6 });
const ip4 = fc.uint8Array({ minLength: 4, maxLength: 4 });
const ip6 = fc.uint8Array({ minLength: 16, maxLength: 16 });
const u = (bits: number) => fc.nat(2 ** bits - 1);
const u32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const words = (max: number) =>
  fc.nat(max).chain((count) => fc.uint8Array({ minLength: count * 4, maxLength: count * 4 }));

const etherHeader = fc.record({ dst: mac, src: mac }).map(ether);
const vlanHeader = fc
  .record({ vid: u(12), pcp: u(3), dei: fc.boolean(), tpid: fc.constantFrom(0x8100, 0x88a8) })
  .map(vlan);
const ipHeader = fc.oneof(
  fc
    .record({
      src: ip4,
      dst: ip4,
      ttl: u(8),
      dscp: u(6),
      ecn: u(2),
      identification: u(16),
      dontFragment: fc.boolean(),
      totalLength: u(16),
      checksum: u(16),
      options: words(10),
    })
    .map(ipv4),
  fc
    .record({ src: ip6, dst: ip6, hopLimit: u(8), trafficClass: u(8), flowLabel: u(20), payloadLength: u(16) })
    .map(ipv6),
);
const udpHeader = fc.record({ srcPort: u(16), length: u(16), checksum: u(16) }).map(udp);
const optional = <T>(arb: fc.Arbitrary<T>) => ({ arb });
const present = (spec: Record<string, { arb: fc.Arbitrary<unknown> }>) =>
  fc.record(Object.fromEntries(Object.entries(spec).map(([name, { arb }]) => [name, arb])), { requiredKeys: [] });

const underUdp = fc.oneof(
  fc.record({ vni: u(24), flags: u(8), reserved1: u(24), reserved2: u(8) }).map(vxlan),
  fc
    .record({
      vni: u(24),
      oam: fc.boolean(),
      critical: fc.boolean(),
      options: fc.array(fc.record({ class: u(16), type: u(8), data: words(5), reserved: u(3) }), { maxLength: 4 }),
    })
    .map(geneve),
);
const gtpuHeader = fc
  .tuple(
    u32,
    present({
      length: optional(u(16)),
      sequence: optional(u(16)),
      nPdu: optional(u(8)),
      extensions: optional(
        fc.array(
          fc.record({
            type: fc.integer({ min: 1, max: 255 }),
            content: fc.constantFrom(2, 6, 10).chain((n) => fc.uint8Array({ minLength: n, maxLength: n })),
          }),
          { maxLength: 3 },
        ),
      ),
    }),
  )
  .map(([teid, rest]) => gtpu({ teid, ...rest }));
const greHeader = present({ key: optional(u32), checksum: optional(u(16)), sequence: optional(u32) }).map(gre);
const mplsHeaders = fc.array(fc.record({ label: u(20), exp: u(3), ttl: u(8) }).map(mpls), {
  minLength: 1,
  maxLength: 3,
});

const l2 = fc.tuple(etherHeader, fc.array(vlanHeader, { maxLength: 2 })).map(([first, tags]) => [first, ...tags]);
const last = fc.tuple(l2, ipHeader).map(([link, ip]): Header[] => [...link, ip, udp({ dstPort: 9 })]);
const lastIp = ipHeader.map((ip): Header[] => [ip, udp({ dstPort: 9 })]);
const tunnel = fc.oneof(
  fc.tuple(udpHeader, underUdp, last).map(([a, b, c]) => [a, b, ...c]),
  fc.tuple(udpHeader, gtpuHeader, lastIp).map(([a, b, c]) => [a, b, ...c]),
  fc.tuple(udpHeader, mplsHeaders, lastIp).map(([a, b, c]) => [a, ...b, ...c]),
  fc.tuple(greHeader, fc.oneof(last, lastIp)).map(([a, b]) => [a, ...b]),
);
const rows = fc.tuple(l2, ipHeader, tunnel).map(([link, ip, inner]): Header[] => [...link, ip, ...inner]);

function rebuild(layer: Layer): Header {
  const builders = { ether, vlan, ipv4, ipv6, udp, vxlan, geneve, gre, mpls, gtpu };
  return (builders[layer.name] as (fields: unknown) => Header)(layer.fields);
}

describe('parseHeaders()', () => {
  it('finds every header that was built, and its fields build it again', () => {
    fc.assert(
      fc.property(rows, fc.uint8Array({ maxLength: 20 }), (row, payload) => {
        const front = headers(...row);
        const bytes = Uint8Array.from([...front, ...payload]);
        const parsed = parseHeaders(bytes);
        expect(parsed.layers.map(({ name }) => name)).toEqual(row.map(({ name }) => name));
        expect(parsed.payload).toEqual(payload);
        expect(parsed.truncated).toBeUndefined();
        expect(headers(...parsed.layers.map(rebuild))).toEqual(front);
      }),
      { numRuns: 2000 },
    );
  });

  it('says in which header the bytes end, at every length', () => {
    fc.assert(
      fc.property(rows, fc.nat(1000), (row, cut) => {
        const front = headers(...row);
        const bytes = front.subarray(0, cut % front.length);
        const { layers, payload, truncated } = parseHeaders(bytes);
        const whole = layers.reduce((sum, { size }) => sum + size, 0);
        expect(whole + payload.length).toBe(bytes.length);
        if (payload.length > 0) expect(truncated).toBe(row[layers.length]?.name);
      }),
      { numRuns: 2000 },
    );
  });

  it('takes any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), rows, fc.array(fc.tuple(fc.nat(), u(8))), (noise, row, edits) => {
        expect(parseHeaders(noise).payload.length).toBeLessThanOrEqual(noise.length);
        const bytes = Uint8Array.from([...headers(...row), ...noise]);
        for (const [at, byte] of edits) bytes[at % bytes.length] = byte;
        const { layers, payload } = parseHeaders(bytes);
        expect(layers.reduce((sum, { size }) => sum + size, 0) + payload.length).toBe(bytes.length);
      }),
      { numRuns: 3000 },
    );
  });

  it('ends the options of GENEVE where its header says, also in the middle of one', () => {
    const option = { class: 1, type: 2, reserved: 0, data: Uint8Array.of(1, 2, 3, 4) };
    const front = headers(
      ether({ dst: '01:50:56:19:20:a7', src: '24:8a:07:a5:28:c8' }),
      ipv4({ src: '1.1.1.1', dst: '2.2.2.2' }),
      udp(),
      geneve({ vni: 1, options: [option] }),
    );
    const bytes = Uint8Array.from([...front, ...new Array<number>(60).fill(7)]);
    bytes[front.length - 5] = 5; // words of data; the header has room for one
    const { layers, payload } = parseHeaders(bytes);
    const at = layers.findIndex(({ name }) => name === 'geneve');
    expect(layers[at]).toMatchObject({ size: 16, fields: { options: [option] } });
    expect(layers[at + 1]).toMatchObject({ name: 'ether', offset: front.length });
    expect(payload).toHaveLength(46);
  });

  it('names bytes whose buffer was transferred', () => {
    const gone = new Uint8Array(64);
    structuredClone(gone.buffer, { transfer: [gone.buffer] });
    expect(() => parseHeaders(gone)).toThrow(/^bytes is detached/);
  });

  it('begins with IP of either version, and ends at a fragment', () => {
    const v4 = headers(ipv4({ src: '1.1.1.1', dst: '2.2.2.2', protocol: 17, fragmentOffset: 1 }), udp({ dstPort: 1 }));
    expect(parseHeaders(v4, 'ip').layers.map(({ name }) => name)).toEqual(['ipv4']);
    const v6 = headers(ipv6({ src: '::1', dst: '::2' }), udp({ dstPort: 1 }));
    expect(parseHeaders(v6, 'ip').layers.map(({ name }) => name)).toEqual(['ipv6', 'udp']);
    expect(parseHeaders(Uint8Array.of(0x10), 'ip')).toEqual({ layers: [], payload: Uint8Array.of(0x10) });
    expect(() => parseHeaders('no bytes' as never)).toThrow('bytes must be a Uint8Array');
    expect(() => parseHeaders(v4, 'arp' as never)).toThrow("from must be 'ether' or 'ip'");
  });
});
