import { hex, type Layer, LayerReader } from './layer-reader.js';
import {
  ethernet,
  type Ip,
  ipv4Header,
  ipv6Header,
  PORT_ROCE,
  PROTOCOL_UDP,
  TYPE_ETHERNET,
  TYPE_IPV4,
  TYPE_IPV6,
  TYPE_VLAN,
  udp,
  vlan,
} from './network-headers.js';
import { EXTENSIONS, managementDatagram, baseTransport, type Transport } from './transport-headers.js';
import { type Carried, LONGEST_TUNNEL, tunnelOf } from './tunnel-headers.js';

const ICRC_BYTES = 4;
const MANAGEMENT_QP = 1;

/** A place in a packet where an RDMA packet may begin: behind a tunnel header of `tunnel` bytes. */
export interface Candidate {
  /** Where the IP header begins, and how long it is with its UDP header. */
  network: number;
  networkSize: number;
  /** Where the BTH may begin. */
  at: number;
  /** Where the packet ends; more than the captured bytes if it was cut off. */
  end: number;
}

export interface ExplainOptions {
  /** The first header. */
  link: 'ip' | 'ethernet';
  /** Bytes on the wire; the capture may hold fewer. Default: all are there. */
  length?: number;
  /**
   * Whether an RDMA packet begins there, directly behind a tunnel header. Devices with encapsulations put arbitrary
   * bytes in front of the BTH, so that nothing but the checksum tells.
   */
  isTransport: (candidate: Candidate) => boolean;
  /** The same, and its checksum is right. */
  isSealed: (candidate: Candidate) => boolean;
}

/** A packet, explained as far as it is known. */
export interface Explanation {
  layers: Layer[];
  /** The header that the BTH directly or indirectly follows. */
  ip?: Ip;
  /** Undefined for packets of other protocols. */
  transport?: Transport;
  /** Where the RDMA packet lies. */
  place?: Candidate;
  /** Bytes of the data behind the headers. */
  payload: number;
  /** The names of the tunnels around it, outermost first. */
  tunnels: string[];
  /** What a management datagram is. */
  message?: string;
  /** Why the explanation ends early. */
  problem?: string;
}

/** Explains a packet header by header, field by field, through tunnels. Never throws for what a packet may hold. */
export function explain(packet: Uint8Array, options: ExplainOptions): Explanation {
  const walk = new Walk(packet, options);
  try {
    walk.start();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    walk.result.problem = error.message;
  }
  if (walk.result.tunnels.length > 0) nameOuter(walk.result.layers);
  return walk.result;
}

class Walk {
  readonly result: Explanation = { layers: [], payload: 0, tunnels: [] };
  readonly #packet: Uint8Array;
  readonly #options: ExplainOptions;
  #at = 0;

  constructor(packet: Uint8Array, options: ExplainOptions) {
    this.#packet = packet;
    this.#options = options;
  }

  start(): void {
    this.#carried(this.#options.link === 'ethernet' ? TYPE_ETHERNET : 'ip');
  }

  #read<T>(name: string, fields: (layer: LayerReader) => T): T {
    const reader = new LayerReader(this.#packet, name, this.#at);
    const value = fields(reader);
    this.result.layers.push(reader.layer);
    this.#at = reader.end;
    return value;
  }

  #carried(type: Carried): void {
    let next = type;
    if (next === TYPE_ETHERNET) next = this.#read('Ethernet', ethernet);
    while (next === TYPE_VLAN) next = this.#read('VLAN', vlan);
    const version = (this.#packet[this.#at] ?? 0) >> 4;
    if (next === TYPE_IPV4 || (next === 'ip' && version === 4)) this.#ip('IPv4', ipv4Header);
    else if (next === TYPE_IPV6 || (next === 'ip' && version === 6)) this.#ip('IPv6', ipv6Header);
    else this.#rest(next === 'ip' ? 'no IP packet' : `EtherType 0x${next.toString(16)} is not explained here`);
  }

  #ip(name: string, header: (layer: LayerReader) => Ip): void {
    const network = this.#at;
    const ip = this.#read(name, header);
    this.result.ip = ip;
    let port: number | undefined;
    if (ip.protocol === PROTOCOL_UDP) port = this.#read('UDP', (layer) => udp(layer, portName));
    const networkSize = this.#at - network;
    const place = (at: number): Candidate => ({ network, networkSize, at, end: network + ip.length });
    if (port === PORT_ROCE) {
      this.#transport(place(this.#at));
      return;
    }
    const tunnel = tunnelOf({ protocol: ip.protocol, port });
    if (tunnel === undefined) {
      if (this.#userTunnel(place, this.#options.isTransport)) return;
      this.#rest(`no RoCE v2: ${port === undefined ? `IP protocol ${ip.protocol}` : `UDP port ${port}`}`);
      return;
    }
    const behindUdp = this.#at;
    const carried = this.#read(tunnel.name, tunnel.read);
    const isTransport = this.#options.isTransport(place(this.#at));
    if (!isTransport && port !== undefined) {
      // The port is a known tunnel's, and the header may be the user's own.
      const [known, at] = [this.result.layers.pop(), this.#at];
      this.#at = behindUdp;
      if (this.#userTunnel(place, this.#options.isSealed)) return;
      if (known !== undefined) this.result.layers.push(known);
      this.#at = at;
    }
    this.result.tunnels.push(tunnel.name);
    if (isTransport) this.#transport(place(this.#at));
    else this.#carried(carried);
  }

  /** The packet behind a header of the user's own, if there is one. */
  #userTunnel(place: (at: number) => Candidate, isThere: (candidate: Candidate) => boolean): boolean {
    for (let size = 0; size <= LONGEST_TUNNEL; size += 4) {
      if (!isThere(place(this.#at + size))) continue;
      if (size > 0) this.#read('tunnel header', (layer) => layer.field('of the user', size * 8, hex));
      this.result.tunnels.push('tunnel');
      this.#transport(place(this.#at));
      return true;
    }
    return false;
  }

  #transport(place: Candidate): void {
    this.result.place = place;
    const transport = this.#read('BTH', baseTransport);
    this.result.transport = transport;
    if (transport.opcode === undefined) {
      this.#rest('the opcode is unknown');
      return;
    }
    for (const name of transport.opcode.extensions) {
      this.#read(name, (layer) => {
        EXTENSIONS[name](layer, transport);
      });
    }
    const end = Math.min(place.end, this.#options.length ?? Infinity) - ICRC_BYTES - transport.pad;
    this.result.payload = Math.max(0, end - this.#at);
    if (transport.destQpn === MANAGEMENT_QP && transport.opcode.transport === 'UD') {
      const message = this.#read('MAD', managementDatagram);
      if (message !== undefined) this.result.message = message;
    }
    this.#trailer(end, transport.pad);
  }

  #trailer(end: number, pad: number): void {
    const data = Math.min(end, this.#packet.length) - this.#at;
    if (data > 0)
      this.#read('payload', (layer) => {
        layer.bytes('data', data, end > this.#packet.length ? 'the rest was not kept' : `${data} bytes of the message`);
      });
    if (end + pad + ICRC_BYTES > this.#packet.length) return;
    if (pad > 0) this.#read('padding', (layer) => layer.field('pad', pad * 8, hex, 'fills up to 4 bytes'));
    this.#read('ICRC', (layer) =>
      layer.field(
        'invariant CRC',
        32,
        hex,
        'over the network headers and all from the BTH on, not over a tunnel header',
      ),
    );
  }

  /** What is behind the explained headers. */
  #rest(problem: string): void {
    this.result.problem = problem;
    const size = this.#packet.length - this.#at;
    if (size > 0)
      this.#read('payload', (layer) => {
        layer.bytes('data', size, 'not explained');
      });
  }
}

function portName(port: number): string | undefined {
  return port === PORT_ROCE ? 'RoCE v2' : tunnelOf({ protocol: PROTOCOL_UDP, port })?.name;
}

/** The network headers in front of the first tunnel header carry the tunnel. */
function nameOuter(layers: Layer[]): void {
  for (const layer of layers) {
    if (!['Ethernet', 'VLAN', 'IPv4', 'IPv6', 'UDP'].includes(layer.name)) return;
    layer.name = `outer ${layer.name}`;
  }
}
