import type { Flow } from './flows.js';
import { Numbering } from './numbering.js';
import type { Observation } from './observations.js';

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
export class EndpointsTable {
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
