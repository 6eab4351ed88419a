import { decimal, hex, ipv4, ipv6, type LayerReader, mac } from './layer-reader.js';

export const PROTOCOL_UDP = 17;
export const PROTOCOL_GRE = 47;
export const PORT_ROCE = 4791;
export const TYPE_IPV4 = 0x0800;
export const TYPE_IPV6 = 0x86dd;
export const TYPE_VLAN = 0x8100;
export const TYPE_ETHERNET = 0x6558;
export const TYPE_MPLS = 0x8847;

const ETHERTYPES: Readonly<Record<number, string>> = {
  [TYPE_IPV4]: 'IPv4',
  [TYPE_IPV6]: 'IPv6',
  [TYPE_VLAN]: 'VLAN',
  [TYPE_ETHERNET]: 'Ethernet',
  [TYPE_MPLS]: 'MPLS',
  0x0806: 'ARP',
};

const etherTypeName = (type: bigint) => ETHERTYPES[Number(type)];
const protocolName = (number: bigint) =>
  ({ 1: 'ICMP', 6: 'TCP', [PROTOCOL_UDP]: 'UDP', [PROTOCOL_GRE]: 'GRE', 58: 'ICMPv6' })[Number(number)];

/** Returns the EtherType. */
export function ethernet(layer: LayerReader): number {
  layer.field('destination', 48, mac);
  layer.field('source', 48, mac);
  return Number(layer.field('EtherType', 16, hex, etherTypeName));
}

/** Returns the EtherType behind the tag. */
export function vlan(layer: LayerReader): number {
  layer.field('priority', 3);
  layer.field('drop eligible', 1);
  layer.field('VLAN', 12);
  return Number(layer.field('EtherType', 16, hex, etherTypeName));
}

export interface Ip {
  protocol: number;
  /** Bytes of the whole packet, this header included. */
  length: number;
  source: string;
  destination: string;
}

export function ipv4Header(layer: LayerReader): Ip {
  layer.field('version', 4);
  const words = layer.field('header length', 4, decimal, (count) => `${count * 4n} bytes`);
  layer.field('DSCP', 6);
  layer.field('ECN', 2, decimal, (ecn) => ['not capable', 'capable (1)', 'capable (0)', 'congestion'][Number(ecn)]);
  const length = layer.field('total length', 16, decimal, 'bytes, this header included');
  layer.field('identification', 16, hex);
  layer.field('flags', 3, hex, (flags) => (flags === 2n ? 'do not fragment' : undefined));
  layer.field('fragment offset', 13);
  layer.field('time to live', 8, decimal, 'hops, the hopLimit of the queue pair');
  const protocol = layer.field('protocol', 8, decimal, protocolName);
  layer.field('header checksum', 16, hex);
  const source = layer.field('source', 32, ipv4);
  const destination = layer.field('destination', 32, ipv4);
  if (words > 5n) layer.field('options', Number(words - 5n) * 32, hex);
  return {
    protocol: Number(protocol),
    length: Number(length),
    source: ipv4(source, 32),
    destination: ipv4(destination, 32),
  };
}

export function ipv6Header(layer: LayerReader): Ip {
  layer.field('version', 4);
  layer.field('traffic class', 8, hex);
  layer.field('flow label', 20, hex);
  const length = layer.field('payload length', 16, decimal, 'bytes behind this header');
  const protocol = layer.field('next header', 8, decimal, protocolName);
  layer.field('hop limit', 8);
  const source = layer.field('source', 128, ipv6);
  const destination = layer.field('destination', 128, ipv6);
  return {
    protocol: Number(protocol),
    length: Number(length) + 40,
    source: ipv6(source, 128),
    destination: ipv6(destination, 128),
  };
}

/** Returns the destination port. */
export function udp(layer: LayerReader, known: (port: number) => string | undefined): number {
  layer.field('source port', 16, decimal, 'spreads connections over paths');
  const port = layer.field('destination port', 16, decimal, (number) => known(Number(number)));
  layer.field('length', 16, decimal, 'bytes, this header included');
  layer.field('checksum', 16, hex, (sum) => (sum === 0n ? 'none: the ICRC protects the packet' : undefined));
  return Number(port);
}
