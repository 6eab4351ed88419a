import { describe, expect, it } from 'vitest';
import { type Candidate, dissect, opcodeOf, PacketScan } from '../src/packets/index.js';

/** What a scan and an explanation both tell; undefined for a packet of another protocol. */
function scanned(packet: Uint8Array, link: 'ip' | 'ethernet', length: number) {
  // Not at the beginning of its view, as in a file.
  const view = new DataView(new ArrayBuffer(packet.length + 7));
  new Uint8Array(view.buffer).set(packet, 7);
  const scan = new PacketScan();
  if (!scan.scan(view, 7, packet.length, link, length)) return undefined;
  const { place, tunnels, opcode, destQpn, psn, srcQpn, dmaLength, aeth, payload, icrc } = scan;
  return {
    ...{ tunnels, destQpn, psn, payload, icrc, srcQpn, dmaLength, aeth },
    name: opcodeOf(opcode)?.name,
    place: { ...place, network: place.network - 7, at: place.at - 7, end: place.end - 7 },
  };
}

function explained(packet: Uint8Array, link: 'ip' | 'ethernet', length: number) {
  const { transport, tunnels, payload, icrc, place } = dissect(packet, link, length);
  if (transport === undefined) return undefined;
  const { opcode, destQpn, psn, srcQpn = -1, dmaLength = -1, syndrome, msn = 0 } = transport;
  const aeth = syndrome === undefined ? -1 : syndrome * 2 ** 24 + msn;
  return {
    ...{ tunnels: tunnels.join(', '), destQpn, psn, payload, icrc, srcQpn, dmaLength, aeth },
    ...{ name: opcode?.name, place },
  };
}

/** Numbers that are the same in each run. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const next = random(1);
const junk = (size: number) => Uint8Array.from({ length: size }, () => next(256));
const concat = (...parts: Uint8Array[]) => Uint8Array.from(parts.flatMap((part) => [...part]));

function ip(payload: Uint8Array, protocol: number): Uint8Array {
  if (next(3) === 0) {
    const header = junk(40);
    header.set([0x60, 0, 0, 0, payload.length >> 8, payload.length & 0xff, protocol]);
    return concat(header, payload);
  }
  const words = 5 + next(3);
  const header = junk(words * 4);
  const total = header.length + payload.length;
  header.set([0x40 | words, 0, total >> 8, total & 0xff]);
  header[9] = protocol;
  return concat(header, payload);
}

function udp(payload: Uint8Array, port: number): Uint8Array {
  const size = payload.length + 8;
  return ip(concat(Uint8Array.of(0xc0, 0, port >> 8, port & 0xff, size >> 8, size & 0xff, 0, 0), payload), 17);
}

function ethernet(payload: Uint8Array): Uint8Array {
  const type = (payload[0] ?? 0) >> 4 === 6 ? [0x86, 0xdd] : [0x08, 0x00];
  const tag = next(2) === 0 ? [] : [0x81, 0, 0, next(256)];
  return concat(junk(12), Uint8Array.of(...tag, ...type), payload);
}

/** With the data of an opcode that is known, as a rule. */
function bth(): Uint8Array {
  const opcodes = Array.from({ length: 256 }, (_, number) => number).filter((number) => opcodeOf(number));
  const packet = junk(12 + 4 * next(20));
  packet[0] = (next(20) === 0 ? next(256) : opcodes[next(opcodes.length)]) ?? 0;
  packet[1] = next(4) << 4;
  packet.set([0xff, 0xff, 0], 2);
  return packet;
}

function tunnelled(): Uint8Array {
  const direct = () => (next(2) === 0 ? udp(bth(), 4791) : bth());
  switch (next(6)) {
    case 0:
      return udp(concat(Uint8Array.of(8, 0, 0, 0, 0, 0, 7, 0), next(2) === 0 ? bth() : ethernet(direct())), 4789);
    case 1: {
      const words = next(3);
      return udp(concat(Uint8Array.of(words, 0, 0x65, 0x58, 0, 0, 7, 0), junk(words * 4), ethernet(direct())), 6081);
    }
    case 2: {
      const flags = next(8);
      return udp(concat(Uint8Array.of(0x30 | flags, 0xff), junk(6 + (flags === 0 ? 0 : 4)), direct()), 2152);
    }
    case 3:
      return udp(
        concat(
          ...Array.from({ length: next(3) }, () => Uint8Array.of(0, 0, 0, 64)),
          Uint8Array.of(0, 1, 1, 64),
          direct(),
        ),
        6635,
      );
    case 4: {
      const flags = (next(2) << 7) | (next(2) << 5) | (next(2) << 4);
      const words = (flags >> 7) + ((flags >> 5) & 1) + ((flags >> 4) & 1);
      return ip(concat(Uint8Array.of(flags, 0, 0x08, 0x00), junk(words * 4), direct()), 47);
    }
    default:
      return userTunnel();
  }
}

/** Writes the right checksum of the RDMA packet there: by the definition, bit by bit. */
function seal(packet: Uint8Array, { network, networkSize, at, end }: Candidate): void {
  const headers = concat(packet.subarray(network, network + networkSize), packet.subarray(at, at + 12));
  const fill = (...places: number[]) => {
    for (const place of places) headers[place] = 0xff;
  };
  const first = headers[0] ?? 0;
  if (first >> 4 === 4) fill(1, 8, 10, 11);
  else {
    headers[0] = first | 0x0f;
    fill(1, 2, 3, 7);
  }
  const ip = first >> 4 === 4 ? (first & 0x0f) * 4 : 40;
  if (networkSize === ip + 8) fill(ip + 6, ip + 7);
  fill(networkSize + 4);
  let crc = 0xffffffff;
  for (const byte of [...new Uint8Array(8).fill(0xff), ...headers, ...packet.subarray(at + 12, end - 4)]) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  new DataView(packet.buffer, packet.byteOffset).setUint32(end - 4, ~crc >>> 0, true);
}

/** Of tunnels whose headers are known. */
const KNOWN_PORTS = [4789, 6081, 2152, 6635];

/** An RDMA packet behind a header that only its checksum tells. */
function userTunnel(): Uint8Array {
  const inner = bth();
  const size = 4 * next(18);
  const carried = concat(junk(size), inner);
  const port = next(3) === 0 ? (KNOWN_PORTS[next(KNOWN_PORTS.length)] ?? 0) : next(65_536);
  const packet = next(2) === 0 ? ip(carried, next(256)) : udp(carried, port);
  const at = packet.length - inner.length;
  if (inner.length >= 16) seal(packet, { network: 0, networkSize: at - size, at, end: packet.length });
  return packet;
}

describe('PacketScan', () => {
  it('finds what an explanation finds, in whole, damaged and cut packets of each kind', () => {
    const kinds = new Map<string, number>();
    for (let round = 0; round < 5000; round += 1) {
      const inner = next(3) === 0 ? udp(bth(), 4791) : tunnelled();
      const link = next(2) === 0 ? 'ip' : 'ethernet';
      let packet = link === 'ip' ? inner : ethernet(inner);
      const { length } = packet;
      const { place } = dissect(packet, link);
      if (place !== undefined && place.end <= length && place.at + 16 <= place.end && next(2) === 0)
        seal(packet, place);
      if (next(3) === 0) packet[next(length)] = next(256);
      if (next(3) === 0) packet = packet.slice(0, next(length + 1));
      const found = scanned(packet, link, length);
      expect(found, Buffer.from(packet).toString('hex')).toEqual(explained(packet, link, length));
      const kind = found === undefined ? 'none' : found.tunnels || 'plain';
      if (found !== undefined) kinds.set(String(found.icrc), (kinds.get(String(found.icrc)) ?? 0) + 1);
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    }
    for (const kind of ['none', 'plain', 'VXLAN', 'GENEVE', 'GTP-U', 'MPLS', 'GRE', 'tunnel', 'true', 'false'])
      expect(kinds.get(kind), kind).toBeGreaterThan(50);
  });
});
