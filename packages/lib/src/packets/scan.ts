import { checksum, icrcIsRight, transportBegins, transportIsSealed } from './icrc.js';
import type { Candidate } from './explain.js';
import { ipv4, ipv6 } from './layer-reader.js';
import {
  PORT_ROCE,
  PROTOCOL_GRE,
  PROTOCOL_UDP,
  TYPE_ETHERNET,
  TYPE_IPV4,
  TYPE_IPV6,
  TYPE_MPLS,
  TYPE_VLAN,
} from './network-headers.js';
import { type Extension, opcodeOf } from './opcodes.js';
import { LONGEST_TUNNEL, TUNNEL_PORTS } from './tunnel-headers.js';

const BTH_BYTES = 12;
const ICRC_BYTES = 4;
/** In place of an EtherType: the packet's own version tells which IP it is. */
const IP_BY_VERSION = -1;
const NOTHING = -2;

const EXTENSION_BYTES: Readonly<Record<Extension, number>> = {
  ...{ XRCETH: 4, DETH: 8, FETH: 4, RETH: 16, AtomicETH: 28, AETH: 4, AtomicAckETH: 8, ImmDt: 4, IETH: 4 },
};

/** Of each opcode: the bytes of its extension headers, and where some fields are, from the end of the BTH on (-1: not there). */
const LAYOUTS = Array.from({ length: 256 }, (_, number) => {
  const layout = { bytes: 0, srcQpn: -1, dmaLength: -1, aeth: -1 };
  for (const name of opcodeOf(number)?.extensions ?? []) {
    if (name === 'DETH') layout.srcQpn = layout.bytes + 4;
    else if (name === 'RETH') layout.dmaLength = layout.bytes + 12;
    else if (name === 'AETH') layout.aeth = layout.bytes;
    layout.bytes += EXTENSION_BYTES[name];
  }
  return layout;
});

/**
 * The numbers of an RDMA packet, found as `dissect()` finds them but without an explanation: for captures of millions of
 * packets. An object for all of them: each scan overwrites the one before.
 */
export class PacketScan {
  /** Where the headers are; `at` is the BTH, and `end` is behind the captured bytes if the packet was cut off. */
  readonly place: Candidate = { network: 0, networkSize: 0, at: 0, end: 0 };
  version: 4 | 6 = 4;
  /** Where the source address is, which the destination follows. */
  addresses = 0;
  /** The names of the tunnels around it, outermost first, as a list with commas; '' without any. */
  tunnels = '';
  /** BTH: the opcode's number. */
  opcode = 0;
  destQpn = 0;
  psn = 0;
  /** DETH; -1 without one. */
  srcQpn = -1;
  /** RETH: bytes of the whole message; -1 without one. */
  dmaLength = -1;
  /** AETH: syndrome and MSN; -1 without one. */
  aeth = -1;
  /** Bytes of the data behind the headers. */
  payload = 0;
  #icrc: boolean | undefined;
  #view: DataView = new DataView(new ArrayBuffer(0));
  #end = 0;
  #isKnown = false;

  /** Whether the checksum is right; undefined: it cannot be told. It is computed when it is asked for. */
  get icrc(): boolean | undefined {
    if (this.#isKnown) return this.#icrc;
    this.#isKnown = true;
    return (this.#icrc = icrcIsRight(this.#view, this.#end, this.place));
  }

  /** @returns false for a packet of another protocol, and of one that was cut off in front of the end of its BTH */
  scan(view: DataView, from: number, size: number, link: 'ip' | 'ethernet', length: number): boolean {
    const end = from + size;
    this.tunnels = '';
    let type: number = link === 'ethernet' ? TYPE_ETHERNET : IP_BY_VERSION;
    for (let at = from; ;) {
      if (type === TYPE_ETHERNET) {
        if (at + 14 > end) return false;
        type = view.getUint16(at + 12);
        at += 14;
      }
      while (type === TYPE_VLAN) {
        if (at + 4 > end) return false;
        type = view.getUint16(at + 2);
        at += 4;
      }
      const carried = this.#ip(view, at, end, type);
      if (carried === NOTHING) return false;
      if (carried === TRANSPORT) return this.#transport(view, from, end, length);
      type = carried;
      at = this.place.at;
    }
  }

  /** The addresses of the IP header in front of the BTH, as they are usually written. */
  endpoints(): { source: string; destination: string } {
    const view = this.#view;
    const text = (at: number) =>
      this.version === 4
        ? ipv4(BigInt(view.getUint32(at)), 32)
        : ipv6((view.getBigUint64(at) << 64n) | view.getBigUint64(at + 8), 128);
    return { source: text(this.addresses), destination: text(this.addresses + (this.version === 4 ? 4 : 16)) };
  }

  /** A checksum from the BTH on: the same at both ends unless the packet was damaged between them. */
  sum(): number {
    const { at, end } = this.place;
    // It covers the rest; what it does not cover, routers may change.
    if (this.icrc === true) return this.#view.getUint32(end - ICRC_BYTES);
    return checksum(this.#view, at, Math.max(at, Math.min(end, this.#end)));
  }

  /** Reads the network headers, and finds what is behind them: it begins at `place.at`. */
  #ip(view: DataView, at: number, end: number, type: number): number {
    const { place } = this;
    const version = at < end ? view.getUint8(at) >> 4 : 0;
    let protocol: number;
    place.network = at;
    if (type === TYPE_IPV4 || (type === IP_BY_VERSION && version === 4)) {
      if (at + 20 > end) return NOTHING;
      const bytes = Math.max(20, (view.getUint8(at) & 0x0f) * 4);
      if (at + bytes > end) return NOTHING;
      protocol = view.getUint8(at + 9);
      place.end = at + view.getUint16(at + 2);
      this.version = 4;
      this.addresses = at + 12;
      at += bytes;
    } else if (type === TYPE_IPV6 || (type === IP_BY_VERSION && version === 6)) {
      if (at + 40 > end) return NOTHING;
      protocol = view.getUint8(at + 6);
      place.end = at + view.getUint16(at + 4) + 40;
      this.version = 6;
      this.addresses = at + 8;
      at += 40;
    } else return NOTHING;
    let port = -1;
    if (protocol === PROTOCOL_UDP) {
      if (at + 8 > end) return NOTHING;
      port = view.getUint16(at + 2);
      at += 8;
    }
    place.networkSize = at - place.network;
    place.at = at;
    if (port === PORT_ROCE) return TRANSPORT;
    const tunnel = port >= 0 ? TUNNEL_PORTS.get(port)?.name : protocol === PROTOCOL_GRE ? 'GRE' : undefined;
    if (tunnel === undefined) return this.#userTunnel(view, end, transportBegins);
    const carried = this.#tunnel(view, end, tunnel);
    if (carried === NOTHING) return NOTHING;
    const inner = place.at;
    const begins = transportBegins(view, end, place);
    if (!begins && port >= 0) {
      // The port is a known tunnel's, and the header may be the user's own.
      place.at = at;
      if (this.#userTunnel(view, end, transportIsSealed) === TRANSPORT) return TRANSPORT;
      place.at = inner;
    }
    this.#add(tunnel);
    return begins ? TRANSPORT : carried;
  }

  /** Goes behind a tunnel header. Returns what it carries. */
  #tunnel(view: DataView, end: number, name: string): number {
    const { place } = this;
    const { at } = place;
    const has = (bytes: number) => at + bytes <= end;
    let bytes = 8;
    let carried: number;
    if (name === 'MPLS') {
      for (bytes = 4; has(bytes) && (view.getUint8(at + bytes - 2) & 1) === 0;) bytes += 4;
      carried = IP_BY_VERSION;
    } else if (!has(4)) return NOTHING;
    else if (name === 'VXLAN') carried = TYPE_ETHERNET;
    else if (name === 'GENEVE') {
      bytes += (view.getUint8(at) & 0x3f) * 4;
      carried = view.getUint16(at + 2);
    } else if (name === 'GTP-U') {
      if ((view.getUint8(at) & 7) !== 0) bytes += 4;
      carried = IP_BY_VERSION;
    } else {
      const flags = view.getUint8(at);
      bytes = 4 * (1 + (flags >> 7) + ((flags >> 5) & 1) + ((flags >> 4) & 1));
      carried = view.getUint16(at + 2) === TYPE_MPLS ? IP_BY_VERSION : view.getUint16(at + 2);
    }
    place.at = at + bytes;
    return has(bytes) ? carried : NOTHING;
  }

  #userTunnel(view: DataView, end: number, begins: typeof transportBegins): number {
    const { place } = this;
    const { at } = place;
    for (let bytes = 0; bytes <= LONGEST_TUNNEL; bytes += 4) {
      place.at = at + bytes;
      if (!begins(view, end, place)) continue;
      this.#add('tunnel');
      return TRANSPORT;
    }
    return NOTHING;
  }

  #add(tunnel: string): void {
    this.tunnels = this.tunnels === '' ? tunnel : `${this.tunnels}, ${tunnel}`;
  }

  #transport(view: DataView, from: number, end: number, length: number): boolean {
    const { place } = this;
    const { at } = place;
    if (at + BTH_BYTES > end) return false;
    this.opcode = view.getUint8(at);
    this.destQpn = view.getUint32(at + 4) & 0xffffff;
    this.psn = view.getUint32(at + 8) & 0xffffff;
    this.#view = view;
    this.#end = end;
    this.#isKnown = false;
    this.srcQpn = -1;
    this.dmaLength = -1;
    this.aeth = -1;
    this.payload = 0;
    const layout = LAYOUTS[this.opcode];
    if (layout === undefined || opcodeOf(this.opcode) === undefined) return true;
    const behind = at + BTH_BYTES;
    const has = (offset: number, bytes: number) => offset >= 0 && behind + offset + bytes <= end;
    if (has(layout.srcQpn, 4)) this.srcQpn = view.getUint32(behind + layout.srcQpn) & 0xffffff;
    if (has(layout.dmaLength, 4)) this.dmaLength = view.getUint32(behind + layout.dmaLength);
    if (has(layout.aeth, 4)) this.aeth = view.getUint32(behind + layout.aeth);
    if (behind + layout.bytes > end) return true;
    const pad = (view.getUint8(at + 1) >> 4) & 3;
    this.payload = Math.max(0, Math.min(place.end, from + length) - ICRC_BYTES - pad - behind - layout.bytes);
    return true;
  }
}

const TRANSPORT = -3;
