import { types } from 'node:util';
import { validate } from '@verbs/core/provider';
import { ipBytes } from '../base/addresses.js';
import { parseHeaders } from './index.js';

/** What of a packet decides about the entropy of its tunnel header. What the packet does not have is left out. */
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

/** What the device puts into an outer header. */
export interface EncapEntropy {
  /** The hash: 16 bits. */
  crc: number;
  /** The outer UDP source port: 0xc000 to 0xffff. */
  udpSport: number;
  /** The flow id of NVGRE; of a GRE key the low 8 bits where the device is set up for it. */
  flowId: number;
}

const POLYNOMIAL = 0x100b;
const UDP_PORT_BITS = 0xc000;
const TCP = 6;
const UDP = 17;

/**
 * The UDP source port (of VXLAN, GENEVE, MPLS over UDP, GTP-U) or flow id (NVGRE, GRE key) that the device gives the
 * outer header when it encapsulates: so the way that a flow takes through an ECMP fabric can be told before.
 *
 * It is a CRC over addresses, protocol and ports of the packet before encapsulation, as devices with
 * `encap_entropy_hash_type` 0 compute it. Other devices may differ.
 *
 * @param packet the fields, or the bytes of the packet, Ethernet header first
 * @example
 * calcEncapEntropy({ dst: '2.2.2.2', src: '1.1.1.1', protocol: 17, dport: 5678, sport: 1234 }).udpSport; // 54943
 */
export function calcEncapEntropy(packet: EncapEntropyFields | Uint8Array): EncapEntropy {
  const fields = types.isUint8Array(packet) ? fieldsOf(packet) : packet;
  const given = validate.object(fields, 'packet', ['dst', 'src', 'protocol', 'dport', 'sport']);
  const input = new Uint8Array(37);
  const view = new DataView(input.buffer);
  putAddress(input, 0, given['dst'], 'packet.dst');
  putAddress(input, 16, given['src'], 'packet.src');
  input[32] = validate.optional(given['protocol'], 'packet.protocol', 0xff, 0);
  view.setUint16(33, validate.optional(given['dport'], 'packet.dport', 0xffff, 0));
  view.setUint16(35, validate.optional(given['sport'], 'packet.sport', 0xffff, 0));
  const crc = crc16(input);
  return { crc, udpSport: UDP_PORT_BITS | crc, flowId: crc & 0xff };
}

/** An IPv4 address is in the last 4 of 16 bytes. */
function putAddress(input: Uint8Array, at: number, value: unknown, path: string): void {
  if (value === undefined) return;
  const bytes = ipBytes(value, path);
  input.set(bytes, at + 16 - bytes.length);
}

function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ ((crc & 0x8000) === 0 ? 0 : POLYNOMIAL)) & 0xffff;
  }
  return crc;
}

/** Those of the outermost IP header and of TCP or UDP behind it. */
function fieldsOf(packet: Uint8Array): EncapEntropyFields {
  const { layers, payload } = parseHeaders(packet);
  const at = layers.findIndex(({ name }) => name === 'ipv4' || name === 'ipv6');
  const ip = layers[at];
  if (ip?.name !== 'ipv4' && ip?.name !== 'ipv6') return {};
  const { dst, src } = ip.fields;
  const protocol = ip.name === 'ipv4' ? ip.fields.protocol : ip.fields.nextHeader;
  const next = layers[at + 1];
  if (next?.name === 'udp') return { dst, src, protocol, dport: next.fields.dstPort, sport: next.fields.srcPort };
  // TCP is not parsed, but begins like UDP.
  const fragment = ip.name === 'ipv4' && ip.fields.fragmentOffset !== 0;
  if ((protocol === TCP || protocol === UDP) && next === undefined && !fragment && payload.length >= 4) {
    const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
    return { dst, src, protocol, dport: view.getUint16(2), sport: view.getUint16(0) };
  }
  return { dst, src, protocol };
}
