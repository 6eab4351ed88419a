import { expect, it } from 'vitest';
import { calcEncapEntropy, ether, ipv4, ipv6, mpls, packet, udp, vlan } from '../src/index.js';

it.each([
  [{ dst: '2.2.2.2', src: '1.1.1.1', protocol: 17, dport: 5678, sport: 1234 }, 0x969f, 54943, 0x9f],
  [{ dst: '10.0.0.2', src: '10.0.0.1', protocol: 6, dport: 80, sport: 40000 }, 0xd027, 53287, 0x27],
  [{ dst: '2001:db8::2', src: '2001:db8::1', protocol: 17, dport: 53, sport: 53000 }, 0xb141, 61761, 0x41],
  [{}, 0, 0xc000, 0],
])('of %o', (fields, crc, udpSport, flowId) => {
  expect(calcEncapEntropy(fields)).toEqual({ crc, udpSport, flowId });
});

const MACS = { dst: '01:50:56:19:20:a7', src: '24:8a:07:a5:28:c8' };
const IPS = { src: '1.1.1.1', dst: '2.2.2.2' };

it('takes the fields of a packet from its outermost headers', () => {
  const frame = packet([ether(MACS), ipv4(IPS), udp({ srcPort: 1234, dstPort: 5678 })], new Uint8Array(58));
  expect(calcEncapEntropy(frame).udpSport).toBe(54943);
});

it('takes the ports of TCP, but none of a later fragment', () => {
  const ports = Uint8Array.of(0x9c, 0x40, 0, 80, 0, 0);
  const addresses = { src: '10.0.0.1', dst: '10.0.0.2', protocol: 6 };
  expect(calcEncapEntropy(packet([ether(MACS), ipv4(addresses)], ports)).crc).toBe(0xd027);
  const fragment = packet([ether(MACS), ipv4({ ...addresses, fragmentOffset: 1 })], ports);
  expect(calcEncapEntropy(fragment)).toEqual(calcEncapEntropy({ dst: '10.0.0.2', src: '10.0.0.1', protocol: 6 }));
});

it('looks behind the extension headers of IPv6, up to a later fragment', () => {
  const addresses = { src: '2001:db8::1', dst: '2001:db8::2' };
  const ports = [53000 >> 8, 53000 & 0xff, 0, 53, 0, 8, 0, 0];
  const of = (nextHeader: number, ...bytes: number[]) =>
    calcEncapEntropy(packet([ether(MACS), ipv6({ ...addresses, nextHeader })], Uint8Array.from(bytes)));
  const padding = new Array<number>(6).fill(0);
  const udpOf = (...bytes: number[]) => [...bytes, ...ports];
  for (const entropy of [
    of(17, ...ports),
    of(60, ...udpOf(17, 0, ...padding)),
    of(0, 43, 1, ...padding, ...new Array<number>(8).fill(0), ...udpOf(17, 0, ...padding)),
    of(51, ...udpOf(17, 1, ...padding, 0, 0, 0, 0)),
    of(44, ...udpOf(17, 0, 0, 1, 0, 0, 0, 1)), // the first fragment
  ]) {
    expect(entropy.crc).toBe(0xb141);
  }
  const later = of(44, ...udpOf(17, 0, 0, 8, 0, 0, 0, 1));
  expect(later).toEqual(calcEncapEntropy({ ...addresses, protocol: 17 }));
  // Cut off.
  expect(of(60, 17, 1, ...padding)).toEqual(calcEncapEntropy({ ...addresses, protocol: 60 }));
});

it('is that of nothing for IP behind MPLS, or behind more VLAN tags than devices look at', () => {
  const front = (...between: Parameters<typeof packet>[0]) =>
    calcEncapEntropy(
      packet([ether(MACS), ...between, ipv4(IPS), udp({ srcPort: 1234, dstPort: 5678 })], new Uint8Array(58)),
    );
  const tag = vlan({ vid: 1 });
  expect(front(tag, tag).udpSport).toBe(54943);
  expect(front(tag, tag, tag).crc).toBe(0);
  expect(front(mpls({ label: 16, bottomOfStack: true })).crc).toBe(0);
});

it('is that of nothing for what is no IP packet', () => {
  expect(calcEncapEntropy(packet([ether({ ...MACS, etherType: 0x88b5 })], new Uint8Array(50))).udpSport).toBe(0xc000);
  expect(calcEncapEntropy(new Uint8Array())).toEqual({ crc: 0, udpSport: 0xc000, flowId: 0 });
});

it('names a field that cannot be', () => {
  expect(() => calcEncapEntropy({ dst: '10.0.0.300' })).toThrow(/packet\.dst/);
  expect(() => calcEncapEntropy({ dport: 65536 })).toThrow(/packet\.dport must be an integer from 0 to 65535/);
  expect(() => calcEncapEntropy(null as never)).toThrow(TypeError);
  const gone = new Uint8Array(64);
  structuredClone(gone.buffer, { transfer: [gone.buffer] });
  expect(() => calcEncapEntropy(gone)).toThrow(/^packet is detached/);
});
