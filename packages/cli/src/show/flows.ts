import { opcodeOf } from '@verbs/lib/packets';
import { Numbering } from './numbering.js';
import type { Observation } from './observations.js';

/** Flows that only damaged packets name. Further ones are not told apart. */
const MOST_DOUBTFUL = 1 << 16;
const UD = 1 << 24;

/** What the opcodes, by number, tell of a flow. */
const KINDS = Array.from({ length: 256 }, (_, number) => {
  const opcode = opcodeOf(number);
  const name = opcode?.name ?? '';
  return {
    transport: opcode?.transport ?? 'none',
    request: opcode?.request === true,
    // A CNP is for a connection of another transport, and no request.
    asks: opcode === undefined || (opcode.request && opcode.role !== 'notification'),
    /** Packets that are not the last ones of their message are of the full MTU. */
    full: /First|Middle/.test(name),
    wholeResponse: name.includes('response Only'),
  };
});

/** Two addresses in one direction, with the tunnels between them. */
export class Endpoints {
  readonly number: number;
  readonly source: string;
  readonly destination: string;
  readonly tunnel: string;
  /** The same ones in the other direction: themselves for an address that talks to itself. */
  reverse: Endpoints = this;
  /** The flows between them, in the order of their first packets. */
  readonly flows: Flow[] = [];
  /** A capture of the destination has packets of them. */
  received = false;

  constructor(number: number, source: string, destination: string, tunnel: string) {
    this.number = number;
    this.source = source;
    this.destination = destination;
    this.tunnel = tunnel;
  }
}

/** All endpoints of a capture. */
class EndpointsTable {
  readonly all: Endpoints[] = [];
  /** By their texts, and, quicker to find, by the bytes of addresses. */
  readonly #byText = new Map<string, Endpoints>();
  readonly #byBytes = new Map<string, Endpoints>();
  /** IPv4 without a tunnel, most of all packets: by number. */
  readonly #numbers = new Numbering();
  readonly #byNumber: Endpoints[] = [];

  of(observation: Observation): Endpoints {
    const { packet, frame } = observation;
    if (packet.version === 6 || packet.tunnels !== '') return this.#ofBytes(observation);
    const source = frame.view.getUint32(packet.addresses);
    const destination = frame.view.getUint32(packet.addresses + 4);
    const known = this.#byNumber[this.#numbers.find(source, destination, 0)];
    if (known !== undefined) return known;
    return (this.#byNumber[this.#numbers.add(source, destination, 0)] = this.#ofText(observation));
  }

  #ofBytes(observation: Observation): Endpoints {
    const { packet, frame } = observation;
    const at = frame.view.byteOffset + packet.addresses;
    const bytes = Buffer.from(frame.view.buffer, at, packet.version === 4 ? 8 : 32);
    const key = `${bytes.toString('latin1')}${packet.tunnels}`;
    const known = this.#byBytes.get(key);
    if (known !== undefined) return known;
    const found = this.#ofText(observation);
    this.#byBytes.set(key, found);
    return found;
  }

  #ofText({ packet }: Observation): Endpoints {
    const { source, destination } = packet.endpoints();
    const one = this.#text(source, destination, packet.tunnels);
    const other = this.#text(destination, source, packet.tunnels);
    one.reverse = other;
    other.reverse = one;
    return one;
  }

  #text(source: string, destination: string, tunnel: string): Endpoints {
    const key = [source, destination, tunnel].join(' ');
    let found = this.#byText.get(key);
    if (found === undefined) {
      found = new Endpoints(this.all.length, source, destination, tunnel);
      this.all.push(found);
      this.#byText.set(key, found);
    }
    return found;
  }
}

/** The packets from an address to a queue pair. */
export class Flow {
  readonly number: number;
  readonly endpoints: Endpoints;
  readonly destQpn: number;
  /** The sender's queue pair, where packets name it (UD). */
  readonly srcQpn: number | undefined;
  transport = 'none';
  packets = 0;
  bytes = 0;
  requests = 0;
  /** Packets with a wrong checksum. */
  wrong = 0;
  /** The payload of a packet that is not the last one of its message. */
  full: number | undefined;
  /** The longest response to a READ that was answered by one packet. */
  longestResponse = 0;
  /** The row of the first request. */
  firstRequest = Infinity;
  /** The packets in the other direction of the same connection. */
  reverse: Flow | undefined;
  /** A capture has packets of it as they left, or as they arrived. */
  sent = false;
  received = false;
  /** The flow that its packets belong to: another one where only damaged packets name this one. */
  of: Flow = this;
  /** The pair that it is a direction of, and the end that sends. */
  pair = 0;
  from: 0 | 1 = 0;

  constructor(number: number, endpoints: Endpoints, destQpn: number, srcQpn: number | undefined) {
    this.number = number;
    this.endpoints = endpoints;
    this.destQpn = destQpn;
    this.srcQpn = srcQpn;
  }

  /** Takes account of a packet, which the row is of. */
  count({ frame, packet }: Observation, row: number): void {
    const kind = KINDS[packet.opcode];
    this.packets += 1;
    this.bytes += frame.length;
    if (packet.icrc === false) this.wrong += 1;
    if (kind === undefined) return;
    if (this.transport === 'none') this.transport = kind.transport;
    if (kind.asks) this.requests += 1;
    if (kind.request && row < this.firstRequest) this.firstRequest = row;
    if (kind.full) this.full ??= packet.payload;
    if (kind.wholeResponse) this.longestResponse = Math.max(this.longestResponse, packet.payload);
  }

  /** The packets of another flow are of this one. */
  adopt(other: Flow): void {
    other.of = this;
    this.packets += other.packets;
    this.bytes += other.bytes;
    this.requests += other.requests;
    this.wrong += other.wrong;
  }

  /** The MTU of its connection, where packets tell it. */
  get mtu(): number | undefined {
    const longest = Math.max(this.longestResponse, this.reverse?.longestResponse ?? 0);
    // Every READ was answered by one packet each: the MTU is not smaller than the longest.
    return this.full ?? this.reverse?.full ?? (longest > 0 ? longest : undefined);
  }

  /** A checksum covers fields that a capture at a socket cannot show; where most are wrong, none is. */
  get checksumsTell(): boolean {
    return this.wrong * 2 <= this.packets;
  }
}

/** All flows of a capture. */
export class Flows {
  readonly all: Flow[] = [];
  readonly #endpoints = new EndpointsTable();
  readonly #numbers = new Numbering();
  #doubtful = 0;
  /** The addresses that have a capture of their own, once all packets were read. */
  #receivers: ReadonlySet<string> | undefined;

  /** The flow that the packets of a flow belong to. */
  of(number: number): Flow {
    const flow = this.all[number];
    if (flow === undefined) throw new RangeError(`no flow ${number}`);
    return flow.of;
  }

  /** The flow that a packet names. */
  find(observation: Observation): Flow {
    const { packet } = observation;
    const endpoints = this.#endpoints.of(observation);
    const datagram = KINDS[packet.opcode]?.transport === 'UD';
    const to = packet.destQpn + (datagram ? UD : 0);
    const from = packet.srcQpn + 1;
    const known = this.all[this.#numbers.find(endpoints.number, to, from)];
    if (known !== undefined) return known;
    // The numbers of a damaged packet may be of no queue pair.
    if (packet.icrc === false && (this.#doubtful += 1) > MOST_DOUBTFUL) {
      const [first] = endpoints.flows;
      if (first !== undefined) return first;
    }
    const srcQpn = packet.srcQpn < 0 ? undefined : packet.srcQpn;
    const flow = new Flow(this.#numbers.add(endpoints.number, to, from), endpoints, packet.destQpn, srcQpn);
    this.all.push(flow);
    endpoints.flows.push(flow);
    return flow;
  }

  /**
   * Whether the receiver has a capture of its own, in which what arrived would be: its address has one and, since the
   * processes of a machine share an address and each has a capture, its queue pair too, if it is the sender's address.
   */
  hasReceiver({ endpoints, received, reverse }: Flow): boolean {
    this.#receivers ??= new Set(
      this.#endpoints.all.filter((some) => some.received).map(({ destination }) => destination),
    );
    if (!this.#receivers.has(endpoints.destination)) return false;
    return endpoints.source !== endpoints.destination || received || reverse?.sent === true;
  }

  /** Gives the packets of flows that only damaged packets name to a sound flow between their addresses, if there is one. */
  settle(): void {
    const sound = new Map<string, Flow>();
    const between = ({ endpoints: { source, destination } }: Flow) => `${source} ${destination}`;
    // Both directions of an address that talks to itself have the same ends: who saw their packets tells them apart.
    const seen = (flow: Flow) => `${between(flow)} ${flow.sent} ${flow.received}`;
    const isSound = ({ packets, wrong }: Flow) => wrong < packets;
    for (const flow of this.all.filter(isSound)) {
      for (const key of [seen(flow), between(flow)]) if (!sound.has(key)) sound.set(key, flow);
    }
    for (const flow of this.all) {
      if (!isSound(flow)) (sound.get(seen(flow)) ?? sound.get(between(flow)))?.adopt(flow);
    }
  }
}
