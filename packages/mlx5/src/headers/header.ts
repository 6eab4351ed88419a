import { type Check, validate, uint8Array } from '@verbs/core/provider';
import { copyOf } from '../base/bytes.js';
import type { ByteWriter } from './bytes.js';

/** The headers with builders; `nvgre` is a form of `gre`. */
export type HeaderName = 'ether' | 'vlan' | 'ipv4' | 'ipv6' | 'udp' | 'vxlan' | 'geneve' | 'gre' | 'mpls' | 'gtpu';

/** The numbers by which the header in front announces this one. Without a number, that header cannot precede it. */
export interface Announcement {
  /** Of an Ethernet header, VLAN tag or tunnel. */
  etherType?: number;
  /** Of an IP header. */
  ipProtocol?: number;
  /** The destination port of UDP. */
  udpPort?: number;
}

/** A header of a packet, from one of the builders; `headers()` encodes a row of them. */
export interface Header {
  /** The header's name. */
  readonly name: HeaderName;
  /** Bytes. */
  readonly size: number;
  /** The numbers by which the header in front announces this one. */
  readonly announced: Announcement;
  /** @internal `next` is the header that follows. */
  readonly write: (to: ByteWriter, next: Header | undefined) => void;
  /** @internal Fills in lengths and checksums. `bytes` begin with this header and end with the packet. */
  readonly complete?: (bytes: Uint8Array, next: Header | undefined, previous: Header | undefined) => void;
  /** @internal The addresses of an IP header, source first: a UDP checksum covers them too. */
  readonly addresses?: readonly [Uint8Array, Uint8Array];
}

/** The numbers that announce the next header. */
export const EtherType = { IPV4: 0x0800, VLAN: 0x8100, IPV6: 0x86dd, MPLS: 0x8847, TEB: 0x6558 } as const;
export const IpProtocol = { IPV4: 4, UDP: 17, IPV6: 41, GRE: 47, MPLS: 137 } as const;
export const TunnelPort = { GTPU: 2152, VXLAN: 4789, GENEVE: 6081, MPLS: 6635 } as const;

/** The number in a header: the given one, or the number of the next header, or the default. */
export function derived(given: number | undefined, path: string, of: number | undefined, otherwise?: number): number {
  const number = given ?? of ?? otherwise;
  if (number === undefined) {
    throw validate.valueError(path, 'must be given: no next header implies it');
  }
  return number;
}

/** The EtherType of what a tunnel carries: of an Ethernet or IP header, an MPLS label or a VLAN tag. */
export function carried(next: Header | undefined, name: HeaderName): number | undefined {
  if (next !== undefined && next.announced.etherType === undefined) {
    throw validate.valueError('headers', `have ${next.name} behind ${name}, but no EtherType announces it`);
  }
  return next?.announced.etherType;
}

/** The check of a field of bytes, a multiple of 4 up to `max`: gives a copy, empty by default. */
export function words(max: number): Check<Uint8Array> {
  return (value, path) => {
    if (value === undefined) return new Uint8Array();
    const bytes = uint8Array(value, path);
    if (bytes.byteLength > max || bytes.byteLength % 4 !== 0) {
      throw validate.valueError(path, `must have 0 to ${max} bytes in steps of 4, not ${bytes.byteLength}`);
    }
    return copyOf(bytes);
  };
}
