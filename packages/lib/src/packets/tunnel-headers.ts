import { decimal, hex, type LayerReader } from './layer-reader.js';
import { PROTOCOL_GRE, TYPE_ETHERNET, TYPE_IPV4, TYPE_IPV6, TYPE_MPLS } from './network-headers.js';

/** The longest tunnel header of a user that is searched for an RDMA packet behind it. */
export const LONGEST_TUNNEL = 64;

/** What a tunnel carries: an EtherType, or 'ip' where the packet's own version tells it. */
export type Carried = number | 'ip';

export interface TunnelHeader {
  name: string;
  read: (layer: LayerReader) => Carried;
}

const VXLAN: TunnelHeader = {
  name: 'VXLAN',
  read: (layer) => {
    layer.field('flags', 8, hex, (flags) => ((flags & 8n) !== 0n ? 'the VNI is valid' : 'no VNI'));
    layer.field('reserved', 24);
    layer.field('VNI', 24, decimal, 'the virtual network');
    layer.field('reserved', 8);
    return TYPE_ETHERNET;
  },
};

const GENEVE: TunnelHeader = {
  name: 'GENEVE',
  read: (layer) => {
    layer.field('version', 2);
    const words = layer.field('option length', 6, decimal, (count) => `${count * 4n} bytes`);
    layer.field('flags, reserved', 8, hex);
    const type = layer.field('protocol type', 16, hex);
    layer.field('VNI', 24, decimal, 'the virtual network');
    layer.field('reserved', 8);
    if (words > 0n) layer.field('options', Number(words) * 32, hex);
    return Number(type);
  },
};

const GTP_U: TunnelHeader = {
  name: 'GTP-U',
  read: (layer) => {
    layer.field('version', 3);
    layer.field('protocol type, reserved', 2);
    const optional = layer.field('optional fields', 3, hex, 'extension, sequence number, N-PDU number');
    layer.field('message type', 8, decimal, (type) => (type === 255n ? 'a packet of the user' : undefined));
    layer.field('length', 16, decimal, 'bytes behind the mandatory header');
    layer.field('TEID', 32, hex, 'the end of the tunnel');
    if (optional !== 0n) layer.field('sequence, N-PDU, extension', 32, hex);
    return 'ip';
  },
};

const MPLS: TunnelHeader = {
  name: 'MPLS',
  read: (layer) => {
    for (let last = false; !last;) {
      layer.field('label', 20);
      layer.field('traffic class', 3);
      last = layer.field('bottom of stack', 1) === 1n;
      layer.field('time to live', 8);
    }
    return 'ip';
  },
};

const GRE: TunnelHeader = {
  name: 'GRE',
  read: (layer) => {
    const checksum = layer.field('checksum present', 1);
    layer.field('reserved', 1);
    const key = layer.field('key present', 1);
    const sequence = layer.field('sequence number present', 1);
    layer.field('reserved', 9);
    layer.field('version', 3);
    const type = Number(layer.field('protocol type', 16, hex, carriedName));
    if (checksum === 1n) layer.field('checksum, reserved', 32, hex);
    if (key === 1n) layer.field('key', 32, hex, 'NVGRE: 24 bits VSID, 8 bits flow');
    if (sequence === 1n) layer.field('sequence number', 32);
    return type === TYPE_MPLS ? 'ip' : type;
  },
};

function carriedName(type: bigint): string | undefined {
  return { [TYPE_ETHERNET]: 'Ethernet', [TYPE_IPV4]: 'IPv4', [TYPE_IPV6]: 'IPv6' }[Number(type)];
}

/** By the destination port of UDP. */
export const TUNNEL_PORTS: ReadonlyMap<number, TunnelHeader> = new Map([
  [4789, VXLAN],
  [6081, GENEVE],
  [2152, GTP_U],
  [6635, MPLS],
]);

/** The tunnel behind an IP protocol, or behind a port of UDP. */
export function tunnelOf({ protocol, port }: { protocol: number; port: number | undefined }): TunnelHeader | undefined {
  if (port !== undefined) return TUNNEL_PORTS.get(port);
  return protocol === PROTOCOL_GRE ? GRE : undefined;
}
