import { validate } from '@verbs/core/provider';
import { isBytes } from '../base/bytes.js';
import { ByteReader, Truncated } from './bytes.js';
import { type EtherFields, readEther, readVlan, type VlanFields } from './ether.js';
import { type GeneveFields, readGeneve } from './geneve.js';
import { type GreFields, readGre } from './gre.js';
import { GTPU_G_PDU, type GtpuFields, readGtpu } from './gtpu.js';
import { EtherType, type HeaderName, IpProtocol, TunnelPort } from './header.js';
import { type Ipv4Fields, type Ipv6Fields, readIpv4, readIpv6 } from './ip.js';
import { type MplsFields, readMpls, readVxlan, type VxlanFields } from './tunnels.js';
import { readUdp, type UdpFields } from './udp.js';

interface FieldsOf {
  ether: Required<EtherFields>;
  vlan: Required<VlanFields>;
  ipv4: Required<Ipv4Fields>;
  ipv6: Required<Ipv6Fields>;
  udp: Required<UdpFields>;
  vxlan: Required<VxlanFields>;
  geneve: Required<GeneveFields>;
  gre: GreFields;
  mpls: Required<MplsFields>;
  gtpu: GtpuFields;
}

/** A header in a packet, with the fields of its builder. */
export type Layer = {
  [Name in HeaderName]: {
    /** The header's name. */
    name: Name;
    /** From the first byte. */
    offset: number;
    /** Bytes. */
    size: number;
    /** The fields of its builder. */
    fields: FieldsOf[Name];
  };
}[HeaderName];

/** The result of {@link parseHeaders}. */
export interface ParsedHeaders {
  /** Outermost first. */
  layers: Layer[];
  /** The bytes behind the last header: a view. */
  payload: Uint8Array;
  /** The header that the bytes end in; it is part of the payload. */
  truncated?: HeaderName;
}

/**
 * The headers of a packet, and the headers inside its tunnels. It ends at an unknown header (TCP, for instance), behind the
 * first fragment of a packet, and at the end of the bytes, whatever they are.
 *
 * @param from the first header, default Ethernet; 'ip' for either version
 * @throws TypeError for another value, and for bytes whose buffer was transferred
 * @example
 * const { layers } = parseHeaders(data);
 * layers.map(({ name }) => name); // ['ether', 'ipv4', 'udp', 'vxlan', 'ether', 'ipv4']
 */
export function parseHeaders(bytes: Uint8Array, from: 'ether' | 'ip' = 'ether'): ParsedHeaders {
  if (!isBytes(bytes, 'bytes')) throw validate.typeError('bytes', 'a Uint8Array', bytes);
  if (!['ether', 'ip'].includes(from)) throw validate.valueError('from', "must be 'ether' or 'ip'");
  const layers: Layer[] = [];
  let name: HeaderName | undefined = from === 'ip' ? ipVersion(bytes[0]) : from;
  let at = 0;
  while (name !== undefined) {
    const reader = new ByteReader(bytes, at);
    let layer: Layer;
    try {
      layer = read(name, reader, layers.at(-1));
    } catch (error) {
      if (error instanceof Truncated) return { layers, payload: bytes.subarray(at), truncated: name };
      throw error;
    }
    layers.push(layer);
    at = reader.at;
    name = behind(layer, reader.peek());
  }
  return { layers, payload: bytes.subarray(at) };
}

function read(name: HeaderName, from: ByteReader, previous: Layer | undefined): Layer {
  const offset = from.at;
  const place = () => ({ offset, size: from.at - offset });
  switch (name) {
    case 'ether':
      return { name, fields: readEther(from), ...place() };
    case 'vlan': {
      const tpid =
        previous !== undefined && 'etherType' in previous.fields ? previous.fields.etherType : EtherType.VLAN;
      return { name, fields: readVlan(from, tpid), ...place() };
    }
    case 'ipv4':
      return { name, fields: readIpv4(from), ...place() };
    case 'ipv6':
      return { name, fields: readIpv6(from), ...place() };
    case 'udp':
      return { name, fields: readUdp(from), ...place() };
    case 'vxlan':
      return { name, fields: readVxlan(from), ...place() };
    case 'geneve':
      return { name, fields: readGeneve(from), ...place() };
    case 'gre':
      return { name, fields: readGre(from), ...place() };
    case 'mpls':
      return { name, fields: readMpls(from), ...place() };
    case 'gtpu':
      return { name, fields: readGtpu(from), ...place() };
  }
}

/** The next header, by the fields of this one; `byte` is the first byte behind it. */
function behind(layer: Layer, byte: number | undefined): HeaderName | undefined {
  if (byte === undefined) return undefined;
  switch (layer.name) {
    case 'ether':
    case 'vlan':
      return BY_ETHER_TYPE.get(layer.fields.etherType);
    case 'ipv4':
      return layer.fields.fragmentOffset === 0 ? BY_IP_PROTOCOL.get(layer.fields.protocol) : undefined;
    case 'ipv6':
      return BY_IP_PROTOCOL.get(layer.fields.nextHeader);
    case 'udp':
      return BY_UDP_PORT.get(layer.fields.dstPort);
    case 'vxlan':
      return 'ether';
    case 'geneve':
    case 'gre':
      return layer.fields.protocol === EtherType.TEB ? 'ether' : BY_ETHER_TYPE.get(layer.fields.protocol ?? 0);
    case 'mpls':
      return layer.fields.bottomOfStack ? ipVersion(byte) : 'mpls';
    case 'gtpu':
      return layer.fields.messageType === GTPU_G_PDU ? ipVersion(byte) : undefined;
  }
}

function ipVersion(byte = 0): HeaderName | undefined {
  return byte >> 4 === 4 ? 'ipv4' : byte >> 4 === 6 ? 'ipv6' : undefined;
}

const BY_ETHER_TYPE = new Map<number, HeaderName>([
  [EtherType.IPV4, 'ipv4'],
  [EtherType.IPV6, 'ipv6'],
  [EtherType.VLAN, 'vlan'],
  [0x88a8, 'vlan'],
  [EtherType.MPLS, 'mpls'],
  [0x8848, 'mpls'],
]);

const BY_IP_PROTOCOL = new Map<number, HeaderName>([
  [IpProtocol.UDP, 'udp'],
  [IpProtocol.GRE, 'gre'],
  [IpProtocol.IPV4, 'ipv4'],
  [IpProtocol.IPV6, 'ipv6'],
  [IpProtocol.MPLS, 'mpls'],
]);

const BY_UDP_PORT = new Map<number, HeaderName>([
  [TunnelPort.VXLAN, 'vxlan'],
  [TunnelPort.GENEVE, 'geneve'],
  [TunnelPort.MPLS, 'mpls'],
  [TunnelPort.GTPU, 'gtpu'],
]);
