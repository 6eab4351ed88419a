import { types } from 'node:util';
import { validate } from '@verbs/core/provider';
import type { ByteWriter } from './bytes.js';

/** The headers that there are builders for; `nvgre` is a form of `gre`. */
export type HeaderName = 'ether' | 'vlan' | 'ipv4' | 'ipv6' | 'udp' | 'vxlan' | 'geneve' | 'gre' | 'mpls' | 'gtpu';

/** How the header in front says that this one follows. What is missing, it cannot say. */
export interface Announcement {
  /** Of an Ethernet header, VLAN tag or tunnel. */
  etherType?: number;
  /** Of an IP header. */
  ipProtocol?: number;
  /** The destination port of UDP. */
  udpPort?: number;
}

/** A header of a packet, from one of the builders; `headers()` makes bytes of several. */
export interface Header {
  /** Which header it is. */
  readonly name: HeaderName;
  /** Bytes. */
  readonly size: number;
  /** How the header in front says that this one follows. */
  readonly announced: Announcement;
  /** @internal `next` is the header that follows. */
  readonly write: (to: ByteWriter, next: Header | undefined) => void;
  /** @internal Fills in lengths and checksums. `bytes` begin with this header and end with the packet. */
  readonly complete?: (bytes: Uint8Array, next: Header | undefined, previous: Header | undefined) => void;
  /** @internal Of an IP header, source first: what a UDP checksum covers besides. */
  readonly addresses?: readonly [Uint8Array, Uint8Array];
}

/** What is behind a header by the number in it. */
export const EtherType = { IPV4: 0x0800, VLAN: 0x8100, IPV6: 0x86dd, MPLS: 0x8847, TEB: 0x6558 } as const;
export const IpProtocol = { IPV4: 4, UDP: 17, IPV6: 41, GRE: 47, MPLS: 137 } as const;
export const TunnelPort = { GTPU: 2152, VXLAN: 4789, GENEVE: 6081, MPLS: 6635 } as const;

export type Given = Readonly<Record<string, unknown>>;

/** The caller's object, with no name that the builder does not know. */
export function given(value: unknown, name: string, known: readonly string[]): Given {
  return validate.object(value, name, known);
}

/** A number that follows from the next header unless it is given. */
export function derived(value: unknown, path: string, max: number, of: number | undefined, otherwise?: number): number {
  if (value !== undefined) return validate.integer(value, path, 0, max);
  const number = of ?? otherwise;
  if (number === undefined) {
    throw validate.valueError(path, 'must be given: no header follows that it could be taken from');
  }
  return number;
}

/** Bytes of the caller's, as a copy: a multiple of 4 up to `max`. */
export function words(value: unknown, path: string, max: number): Uint8Array {
  if (value === undefined) return new Uint8Array();
  if (!types.isUint8Array(value)) throw validate.typeError(path, 'a Uint8Array', value);
  if (value.byteLength > max || value.byteLength % 4 !== 0) {
    throw validate.valueError(path, `must have 0 to ${max} bytes in steps of 4, not ${value.byteLength}`);
  }
  return Uint8Array.prototype.slice.call(value);
}
