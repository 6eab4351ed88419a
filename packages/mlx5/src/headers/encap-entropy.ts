import { fields, maybe, or, u16, u8 } from '@verbs/core/provider';
import { ipBytes } from '../base/addresses.js';
import { isBytes } from '../base/bytes.js';
import { type Layer, parseHeaders } from './index.js';

/** The fields of a packet that the entropy of its tunnel header depends on. Fields that the packet lacks are left out. */
export interface EncapEntropyFields {
  /** The destination address: text, 4 or 16 bytes. */
  dst?: string | Uint8Array;
  /** The source address: text, 4 or 16 bytes. */
  src?: string | Uint8Array;
  /** The IP protocol, or the IPv6 next header. */
  protocol?: number;
  /** The destination port of TCP or UDP. */
  dport?: number;
  /** The source port of TCP or UDP. */
  sport?: number;
}

/** The values that the device puts into an outer header. */
export interface EncapEntropy {
  /** The hash: 16 bits. */
  crc: number;
  /** The outer UDP source port: 0xc000 to 0xffff. */
  udpSport: number;
  /** The flow id of NVGRE; the low 8 bits of a GRE key if the device is set up for it. */
  flowId: number;
}

const POLYNOMIAL = 0x100b;
const UDP_PORT_BITS = 0xc000;
const TCP = 6;
const UDP = 17;
const FRAGMENT = 44;
const AUTHENTICATION = 51;
/** Hop by hop, routing, fragment, authentication, destination options, mobility. */
const EXTENSIONS: ReadonlySet<number> = new Set([0, 43, FRAGMENT, AUTHENTICATION, 60, 135]);
/** What devices look behind. */
const MOST_EXTENSIONS = 8;
const MOST_TAGS = 2;
type IpLayer = Extract<Layer, { name: 'ipv4' | 'ipv6' }>;

const checkPacket = fields({
  dst: maybe(ipBytes),
  src: maybe(ipBytes),
  protocol: or(u8(), 0),
  dport: or(u16(), 0),
  sport: or(u16(), 0),
});

/**
 * The UDP source port (of VXLAN, GENEVE, MPLS over UDP, GTP-U) or flow id (NVGRE, GRE key) that the device puts into the
 * outer header on encapsulation. With it a program predicts the path of a flow through an ECMP fabric.
 *
 * It is a CRC over addresses, protocol and ports of the packet before encapsulation, as devices with
 * `encap_entropy_hash_type` 0 compute it. Other devices may differ.
 *
 * @param packet the fields, or the bytes of the packet, Ethernet header first
 * @example
 * calcEncapEntropy({ dst: '2.2.2.2', src: '1.1.1.1', protocol: 17, dport: 5678, sport: 1234 }).udpSport; // 54943
 */
export function calcEncapEntropy(packet: EncapEntropyFields | Uint8Array): EncapEntropy {
  const of = isBytes(packet, 'packet') ? fieldsOf(packet) : packet;
  const { dst, src, protocol, dport, sport } = checkPacket(of, 'packet');
  const input = new Uint8Array(37);
  const view = new DataView(input.buffer);
  putAddress(input, 0, dst);
  putAddress(input, 16, src);
  input[32] = protocol;
  view.setUint16(33, dport);
  view.setUint16(35, sport);
  const crc = crc16(input);
  return { crc, udpSport: UDP_PORT_BITS | crc, flowId: crc & 0xff };
}

/** An IPv4 address is in the last 4 of 16 bytes. */
function putAddress(input: Uint8Array, at: number, bytes: Uint8Array | undefined): void {
  if (bytes !== undefined) input.set(bytes, at + 16 - bytes.length);
}

function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ ((crc & 0x8000) === 0 ? 0 : POLYNOMIAL)) & 0xffff;
  }
  return crc;
}

/** The fields of the IP header behind Ethernet and VLAN tags, and of TCP or UDP behind it: where devices look for them. */
function fieldsOf(packet: Uint8Array): EncapEntropyFields {
  const { layers } = parseHeaders(packet);
  const at = layers.findIndex(({ name }) => name !== 'ether' && name !== 'vlan');
  const ip = at <= 1 + MOST_TAGS ? layers[at] : undefined;
  if (ip?.name !== 'ipv4' && ip?.name !== 'ipv6') return {};
  const { dst, src } = ip.fields;
  const { protocol, rest } = behindIp(ip, packet.subarray(ip.offset + ip.size));
  // Both begin with the ports.
  if ((protocol !== TCP && protocol !== UDP) || rest === undefined || rest.length < 4) return { dst, src, protocol };
  const view = new DataView(rest.buffer, rest.byteOffset, rest.byteLength);
  return { dst, src, protocol, dport: view.getUint16(2), sport: view.getUint16(0) };
}

/** The protocol behind the extension headers of IPv6, and its bytes; none in a fragment that is not the first. */
function behindIp(ip: IpLayer, bytes: Uint8Array): { protocol: number; rest?: Uint8Array } {
  if (ip.name === 'ipv4') {
    const { protocol, fragmentOffset } = ip.fields;
    return { protocol, ...(fragmentOffset === 0 && { rest: bytes }) };
  }
  let protocol = ip.fields.nextHeader;
  let rest = bytes;
  for (let count = 0; EXTENSIONS.has(protocol); count++) {
    const [next = 0, length = 0, high = 0, low = 0] = rest;
    const size = protocol === FRAGMENT ? 8 : protocol === AUTHENTICATION ? (length + 2) * 4 : (length + 1) * 8;
    if (count === MOST_EXTENSIONS || rest.length < Math.max(8, size)) return { protocol };
    const later = protocol === FRAGMENT && ((high << 8) | low) >> 3 !== 0;
    protocol = next;
    if (later) return { protocol };
    rest = rest.subarray(size);
  }
  return { protocol, rest };
}
