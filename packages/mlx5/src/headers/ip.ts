import { validate } from '@verbs/core/provider';
import { ipv4Bytes, ipv4Text, ipv6Bytes, ipv6Text, type Ipv4Address, type Ipv6Address } from '../base/addresses.js';
import type { ByteReader } from './bytes.js';
import { internetChecksum } from './checksum.js';
import { derived, EtherType, given, type Header, IpProtocol, words } from './header.js';

/** What {@link ipv4} takes. */
export interface Ipv4Fields {
  /** The source: text like '10.0.0.1', or 4 bytes. */
  src: Ipv4Address;
  /** The destination: text or 4 bytes. */
  dst: Ipv4Address;
  /** Default: what follows. Must be given if nothing does. */
  protocol?: number;
  /** Default 64. */
  ttl?: number;
  /** 0 to 63, default 0. */
  dscp?: number;
  /** 0 to 3, default 0. */
  ecn?: number;
  /** Default 0. */
  identification?: number;
  /** Default false. */
  dontFragment?: boolean;
  /** Default false. */
  moreFragments?: boolean;
  /** In units of 8 bytes, default 0. */
  fragmentOffset?: number;
  /** Bytes, this header included. Default 0: the device fills it in. */
  totalLength?: number;
  /** Default 0: the device fills it in. */
  checksum?: number;
  /** 0 to 40 bytes in steps of 4, default none. */
  options?: Uint8Array;
}

const IPV4_NAMES = [
  'src',
  'dst',
  'protocol',
  'ttl',
  'dscp',
  'ecn',
  'identification',
  'dontFragment',
  'moreFragments',
  'fragmentOffset',
  'totalLength',
  'checksum',
  'options',
];

/**
 * An IPv4 header: 20 bytes, and its options.
 *
 * @throws TypeError, RangeError for a field that is missing, misspelt or out of its range
 */
export function ipv4(fields: Ipv4Fields): Header {
  const all = given(fields, 'ipv4', IPV4_NAMES);
  const number = (name: string, max: number, otherwise = 0) =>
    validate.optional(all[name], `ipv4.${name}`, max, otherwise);
  const src = ipv4Bytes(all['src'], 'ipv4.src');
  const dst = ipv4Bytes(all['dst'], 'ipv4.dst');
  const options = words(all['options'], 'ipv4.options', 40);
  const size = 20 + options.length;
  const tos = (number('dscp', 63) << 2) | number('ecn', 3);
  const flags =
    (Number(validate.boolean(all['dontFragment'], 'ipv4.dontFragment', false)) << 14) |
    (Number(validate.boolean(all['moreFragments'], 'ipv4.moreFragments', false)) << 13);
  const fragment = flags | number('fragmentOffset', 0x1fff);
  const identification = number('identification', 0xffff);
  const ttl = number('ttl', 255, 64);
  const totalLength = number('totalLength', 0xffff);
  const checksum = number('checksum', 0xffff);
  if (all['protocol'] !== undefined) number('protocol', 255);
  return {
    name: 'ipv4',
    size,
    announced: { etherType: EtherType.IPV4, ipProtocol: IpProtocol.IPV4 },
    addresses: [src, dst],
    write: (writer, next) => {
      const protocol = derived(all['protocol'], 'ipv4.protocol', 255, next && follows(next, 'ipv4'));
      writer
        .u8(0x40 | (size / 4))
        .u8(tos)
        .u16(totalLength)
        .u16(identification)
        .u16(fragment);
      writer.u8(ttl).u8(protocol).u16(checksum).put(src).put(dst).put(options);
    },
    complete: (bytes) => {
      const view = new DataView(bytes.buffer, bytes.byteOffset, size);
      if (all['totalLength'] === undefined) view.setUint16(2, bytes.length);
      if (all['checksum'] === undefined) view.setUint16(10, internetChecksum(bytes.subarray(0, size)));
    },
  };
}

/** What {@link ipv6} takes. */
export interface Ipv6Fields {
  /** The source: text like '2001:db8::1', or 16 bytes. */
  src: Ipv6Address;
  /** The destination: text or 16 bytes. */
  dst: Ipv6Address;
  /** Default: what follows. Must be given if nothing does. */
  nextHeader?: number;
  /** Default 255. */
  hopLimit?: number;
  /** DSCP and ECN, default 0. */
  trafficClass?: number;
  /** 20 bits, default 0. */
  flowLabel?: number;
  /** Bytes behind this header. Default 0: the device fills it in. */
  payloadLength?: number;
}

const IPV6_NAMES = ['src', 'dst', 'nextHeader', 'hopLimit', 'trafficClass', 'flowLabel', 'payloadLength'];

/** An IPv6 header, 40 bytes. */
export function ipv6(fields: Ipv6Fields): Header {
  const all = given(fields, 'ipv6', IPV6_NAMES);
  const src = ipv6Bytes(all['src'], 'ipv6.src');
  const dst = ipv6Bytes(all['dst'], 'ipv6.dst');
  const trafficClass = validate.optional(all['trafficClass'], 'ipv6.trafficClass', 255, 0);
  const flowLabel = validate.optional(all['flowLabel'], 'ipv6.flowLabel', 0xfffff, 0);
  const hopLimit = validate.optional(all['hopLimit'], 'ipv6.hopLimit', 255, 255);
  const payloadLength = validate.optional(all['payloadLength'], 'ipv6.payloadLength', 0xffff, 0);
  if (all['nextHeader'] !== undefined) validate.integer(all['nextHeader'], 'ipv6.nextHeader', 0, 255);
  return {
    name: 'ipv6',
    size: 40,
    announced: { etherType: EtherType.IPV6, ipProtocol: IpProtocol.IPV6 },
    addresses: [src, dst],
    write: (writer, next) => {
      const nextHeader = derived(all['nextHeader'], 'ipv6.nextHeader', 255, next && follows(next, 'ipv6'));
      writer.u32(((6 << 28) | (trafficClass << 20) | flowLabel) >>> 0);
      writer.u16(payloadLength).u8(nextHeader).u8(hopLimit).put(src).put(dst);
    },
    complete: (bytes) => {
      const view = new DataView(bytes.buffer, bytes.byteOffset, 40);
      if (all['payloadLength'] === undefined) view.setUint16(4, bytes.length - 40);
    },
  };
}

function follows(next: Header, name: string): number {
  const { ipProtocol } = next.announced;
  if (ipProtocol === undefined) {
    throw validate.valueError('headers', `have ${next.name} behind ${name}, which no IP protocol stands for`);
  }
  return ipProtocol;
}

export function readIpv4(from: ByteReader): Required<Ipv4Fields> {
  const size = (from.u8() & 0xf) * 4;
  const tos = from.u8();
  const totalLength = from.u16();
  const identification = from.u16();
  const fragment = from.u16();
  const ttl = from.u8();
  const protocol = from.u8();
  const checksum = from.u16();
  return {
    src: ipv4Text(from.take(4)),
    dst: ipv4Text(from.take(4)),
    protocol,
    ttl,
    dscp: tos >> 2,
    ecn: tos & 3,
    identification,
    dontFragment: (fragment & 0x4000) !== 0,
    moreFragments: (fragment & 0x2000) !== 0,
    fragmentOffset: fragment & 0x1fff,
    totalLength,
    checksum,
    options: from.take(Math.max(size - 20, 0)),
  };
}

export function readIpv6(from: ByteReader): Required<Ipv6Fields> {
  const word = from.u32();
  const payloadLength = from.u16();
  const nextHeader = from.u8();
  const hopLimit = from.u8();
  return {
    src: ipv6Text(from.take(16)),
    dst: ipv6Text(from.take(16)),
    nextHeader,
    hopLimit,
    trafficClass: (word >>> 20) & 0xff,
    flowLabel: word & 0xfffff,
    payloadLength,
  };
}
