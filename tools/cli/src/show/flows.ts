import type { Observation } from './observations.js';
import { psnDistance } from './psn.js';
import type { Transmission } from './transmissions.js';

/** The packets from an address to a queue pair. */
export interface Flow {
  source: string;
  destination: string;
  destQpn: number;
  tunnel: string;
  /** The sender's queue pair, where packets name it (UD). */
  srcQpn: number | undefined;
  transport: string;
  transmissions: Transmission[];
  /** The packets in the other direction of the same connection. */
  reverse?: Flow;
}

/** The flows of a capture, with those that belong to one connection joined. */
export function flowsOf(transmissions: readonly Transmission[]): Flow[] {
  const flows = new Map<string, Flow>();
  const damaged: Transmission[] = [];
  for (const transmission of transmissions) {
    const { seen } = transmission;
    const key = keyOf(seen);
    let flow = flows.get(key);
    if (flow === undefined) {
      // The numbers of a damaged packet may be of no queue pair.
      if (transmission.damaged) {
        damaged.push(transmission);
        continue;
      }
      flows.set(key, (flow = newFlow(seen)));
    }
    flow.transmissions.push(transmission);
  }
  const all = [...flows.values()];
  for (const each of damaged) adopt(all, each);
  joinConnections(all);
  return all;
}

function newFlow({ ip, transport, tunnels }: Observation): Flow {
  const { srcQpn, destQpn } = transport;
  const { source, destination } = ip;
  const name = transport.opcode?.transport ?? 'none';
  return { source, destination, destQpn, srcQpn, tunnel: tunnels.join(', '), transport: name, transmissions: [] };
}

function keyOf({ ip, transport, tunnels }: Observation): string {
  const { srcQpn, destQpn, opcode } = transport;
  // A CNP is for a connection of another transport.
  const kind = opcode?.transport === 'UD' ? 'UD' : '';
  return [ip.source, ip.destination, destQpn, srcQpn, kind, ...tunnels].join('|');
}

/** A damaged packet goes to a flow between its addresses, or begins one. */
function adopt(flows: Flow[], transmission: Transmission): void {
  const { ip } = transmission.seen;
  const found = flows.find(({ source, destination }) => source === ip.source && destination === ip.destination);
  if (found === undefined) flows.push({ ...newFlow(transmission.seen), transmissions: [transmission] });
  else found.transmissions.push(transmission);
}

/**
 * An RC packet names only the receiver's queue pair. Responses have the PSNs of the requests that they are for: each one is
 * a vote for the connection of its flow with the flow of the latest request of that PSN.
 */
function joinConnections(flows: readonly Flow[]): void {
  const votes = new Map<Flow, Map<Flow, number>>();
  for (const responses of flows) {
    // A queue pair that is connected with itself is its own opposite, if there is no other.
    const candidates = flows
      .filter((each) => isOpposite(each, responses) && each.srcQpn === undefined)
      .sort((a, b) => Number(a === responses) - Number(b === responses));
    const latest = candidates.map((flow) => ({ flow, requests: new LatestRequests(flow) }));
    for (const { seen, sent, received } of responses.transmissions) {
      const { opcode, psn } = seen.transport;
      if (opcode === undefined || opcode.request || opcode.role === 'notification') continue;
      let best: { flow: Flow; time: bigint } | undefined;
      for (const { flow, requests } of latest) {
        const time = requests.before(psn, sent ?? received ?? 0n);
        if (time === undefined || (best !== undefined && (best.time > time || flow === responses))) continue;
        best = { flow, time };
      }
      if (best !== undefined) vote(votes, responses, best.flow);
    }
  }
  const ranked = [...votes].flatMap(([a, row]) => [...row].map(([b, count]) => ({ a, b, count })));
  for (const { a, b } of ranked.sort((one, other) => other.count - one.count)) couple(a, b);
  for (const flow of flows) {
    const left = flows.filter((each) => each.reverse === undefined && isOpposite(each, flow) && matches(each, flow));
    if (flow.reverse === undefined && left.length === 1 && left[0] !== undefined) couple(flow, left[0]);
  }
}

/** What is left: datagrams name both queue pairs; of other flows a single one in each direction belongs together. */
function matches(one: Flow, other: Flow): boolean {
  if (one.transport !== other.transport) return false;
  return one.srcQpn === undefined || (one.srcQpn === other.destQpn && one.destQpn === other.srcQpn);
}

function isOpposite(one: Flow, other: Flow): boolean {
  return one.source === other.destination && one.destination === other.source && one.tunnel === other.tunnel;
}

function vote(votes: Map<Flow, Map<Flow, number>>, a: Flow, b: Flow): void {
  // Both directions count for the same connection.
  const [first, second] = votes.get(b)?.has(a) ? [b, a] : [a, b];
  const row = votes.get(first) ?? new Map<Flow, number>();
  row.set(second, (row.get(second) ?? 0) + 1);
  votes.set(first, row);
}

function couple(a: Flow, b: Flow): void {
  if (a.reverse !== undefined || b.reverse !== undefined) return;
  a.reverse = b;
  b.reverse = a;
}

/** The requests of a flow by PSN, walked in the order of time. */
class LatestRequests {
  readonly #requests: { psn: number; span: number; time: bigint }[];
  readonly #byPsn = new Map<number, bigint>();
  #reads: { psn: number; span: number; time: bigint }[] = [];
  #next = 0;

  constructor({ transmissions }: Flow) {
    this.#requests = transmissions
      .filter(({ seen }) => seen.transport.opcode?.request === true)
      .map(({ seen, sent, received }) => ({
        psn: seen.transport.psn,
        // At the smallest MTU; a READ of the largest message has fewer PSNs than half the circle.
        span: seen.transport.opcode?.role === 'read' ? Math.ceil((seen.transport.dmaLength ?? 0) / 256) : 1,
        time: sent ?? received ?? 0n,
      }));
  }

  /** When the latest request that a response with that PSN may be for was sent. Called in the order of time. */
  before(psn: number, time: bigint): bigint | undefined {
    for (let request; (request = this.#requests[this.#next]) !== undefined && request.time <= time; this.#next++) {
      this.#byPsn.set(request.psn, request.time);
      if (request.span > 1) this.#reads = [...this.#reads.slice(-15), request];
    }
    const exact = this.#byPsn.get(psn);
    if (exact !== undefined) return exact;
    return this.#reads.findLast((read) => psnDistance(psn, read.psn) >= 0 && psnDistance(psn, read.psn) < read.span)
      ?.time;
  }
}
