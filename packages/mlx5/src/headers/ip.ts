import { fields, flag, maybe, or, range, u16, u20, u8, validate } from '@verbs/core/provider';
import { ipv4Bytes, ipv4Text, ipv6Bytes, ipv6Text, type Ipv4Address, type Ipv6Address } from '../base/addresses.js';
import type { ByteReader } from './bytes.js';
import { internetChecksum } from './checksum.js';
import { derived, EtherType, type Header, IpProtocol, words } from './header.js';

/** The fields of {@link ipv4}. */
export interface Ipv4Fields {
  /** The source: text like '10.0.0.1', or 4 bytes. */
  src: Ipv4Address;
  /** The destination: text or 4 bytes. */
  dst: Ipv4Address;
  /** Default: the next header's. Mandatory without one. */
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

const checkIpv4 = fields({
  src: ipv4Bytes,
  dst: ipv4Bytes,
  protocol: maybe(u8()),
  ttl: or(u8(), 64),
  dscp: or(range(0, 63), 0),
  ecn: or(range(0, 3), 0),
  identification: or(u16(), 0),
  dontFragment: flag(),
  moreFragments: flag(),
  fragmentOffset: or(range(0, 0x1fff), 0),
  totalLength: maybe(u16()),
  checksum: maybe(u16()),
  options: words(40),
});

/**
 * An IPv4 header: 20 bytes, and its options.
 *
 * @throws TypeError, RangeError for a field that is missing, misspelt or out of its range
 */
export function ipv4(fields: Ipv4Fields): Header {
  const given = checkIpv4(fields, 'ipv4');
  const { src, dst, ttl, identification, totalLength, checksum, options } = given;
  const size = 20 + options.length;
  const tos = (given.dscp << 2) | given.ecn;
  const fragment = (Number(given.dontFragment) << 14) | (Number(given.moreFragments) << 13) | given.fragmentOffset;
  return {
    name: 'ipv4',
    size,
    announced: { etherType: EtherType.IPV4, ipProtocol: IpProtocol.IPV4 },
    addresses: [src, dst],
    write: (writer, next) => {
      const protocol = derived(given.protocol, 'ipv4.protocol', next && follows(next, 'ipv4'));
      writer
        .u8(0x40 | (size / 4))
        .u8(tos)
        .u16(totalLength ?? 0)
        .u16(identification)
        .u16(fragment);
      writer
        .u8(ttl)
        .u8(protocol)
        .u16(checksum ?? 0)
        .put(src)
        .put(dst)
        .put(options);
    },
    complete: (bytes) => {
      const view = new DataView(bytes.buffer, bytes.byteOffset, size);
      if (totalLength === undefined) view.setUint16(2, bytes.length);
      if (checksum === undefined) view.setUint16(10, internetChecksum(bytes.subarray(0, size)));
    },
  };
}

/** The fields of {@link ipv6}. */
export interface Ipv6Fields {
  /** The source: text like '2001:db8::1', or 16 bytes. */
  src: Ipv6Address;
  /** The destination: text or 16 bytes. */
  dst: Ipv6Address;
  /** Default: the next header's. Mandatory without one. */
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

const checkIpv6 = fields({
  src: ipv6Bytes,
  dst: ipv6Bytes,
  nextHeader: maybe(u8()),
  hopLimit: or(u8(), 255),
  trafficClass: or(u8(), 0),
  flowLabel: or(u20(), 0),
  payloadLength: maybe(u16()),
});

/** An IPv6 header, 40 bytes. */
export function ipv6(fields: Ipv6Fields): Header {
  const { src, dst, trafficClass, flowLabel, hopLimit, payloadLength, ...given } = checkIpv6(fields, 'ipv6');
  return {
    name: 'ipv6',
    size: 40,
    announced: { etherType: EtherType.IPV6, ipProtocol: IpProtocol.IPV6 },
    addresses: [src, dst],
    write: (writer, next) => {
      const nextHeader = derived(given.nextHeader, 'ipv6.nextHeader', next && follows(next, 'ipv6'));
      writer.u32(((6 << 28) | (trafficClass << 20) | flowLabel) >>> 0);
      writer
        .u16(payloadLength ?? 0)
        .u8(nextHeader)
        .u8(hopLimit)
        .put(src)
        .put(dst);
    },
    complete: (bytes) => {
      const view = new DataView(bytes.buffer, bytes.byteOffset, 40);
      if (payloadLength === undefined) view.setUint16(4, bytes.length - 40);
    },
  };
}

function follows(next: Header, name: string): number {
  const { ipProtocol } = next.announced;
  if (ipProtocol === undefined) {
    throw validate.valueError('headers', `have ${next.name} behind ${name}, but no IP protocol announces it`);
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
