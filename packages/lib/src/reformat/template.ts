import { isIPv6 } from 'node:net';
import { ether, geneve, gre, gtpu, type Header, headers, ipv4, ipv6, mpls, nvgre, udp, vlan, vxlan } from '@verbs/mlx5';
import type { DecapSpec, EncapSpec } from './spec.js';

export type IpVersion = 4 | 6;

const ETHER_TYPES: Readonly<Record<IpVersion, number>> = { 4: 0x0800, 6: 0x86dd };

export interface Macs {
  dst: Uint8Array | string;
  src: Uint8Array | string;
}

/** The headers that encapsulation puts in front. `version` is that of the packet, where the tunnel carries packets. */
export function outerHeaders(spec: EncapSpec, macs: Macs, version: IpVersion | undefined): Uint8Array {
  const row: Header[] = [ether(macs)];
  if (spec.vlan !== undefined) row.push(vlan({ vid: spec.vlan }));
  return headers(...row, outerIp(spec), ...tunnelHeaders(spec, version));
}

function outerIp({ src, dst, ttl, tos }: EncapSpec): Header {
  if (!isIPv6(src)) {
    return ipv4({ src, dst, ...(ttl !== undefined && { ttl }), dscp: (tos ?? 0) >> 2, ecn: (tos ?? 0) & 3 });
  }
  return ipv6({ src, dst, ...(ttl !== undefined && { hopLimit: ttl }), trafficClass: tos ?? 0 });
}

function tunnelHeaders({ tunnel, id: given }: EncapSpec, version: IpVersion | undefined): Header[] {
  const id = given ?? 0;
  const carried = version === undefined ? {} : { protocol: ETHER_TYPES[version] };
  switch (tunnel) {
    case 'vxlan':
      return [udp(), vxlan({ vni: id })];
    case 'geneve':
      return [udp(), geneve({ vni: id, ...carried })];
    case 'gre':
      return [gre({ ...carried, ...(given !== undefined && { key: given }) })];
    case 'nvgre':
      return [nvgre({ vsid: id })];
    case 'mplsoudp':
      return [udp(), mpls({ label: id })];
    case 'gtpu':
      return [udp(), gtpu({ teid: id })];
  }
}

/** The Ethernet header that decapsulation puts in front of an IP packet. */
export function innerMac({ dmac, smac, vlan: vid }: NonNullable<DecapSpec['mac']>, version: IpVersion): Uint8Array {
  const etherType = ETHER_TYPES[version];
  if (vid === undefined) return headers(ether({ dst: dmac, src: smac, etherType }));
  return headers(ether({ dst: dmac, src: smac }), vlan({ vid, etherType }));
}
