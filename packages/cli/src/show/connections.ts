import { opcodeOf } from '@verbs/lib/packets';
import type { Endpoints, Flow, Flows } from './flows.js';
import { psnDistance } from './psn.js';
import { RecentRows } from './recent-rows.js';
import type { Transmissions } from './transmissions.js';

/** A READ of the largest message has fewer PSNs than half the circle, at the smallest MTU. */
const LEAST_MTU = 256;
/** READs of several packets between two addresses that responses may be for. */
const MOST_READS = 64;

interface Read {
  row: number;
  psn: number;
  span: number;
}

/**
 * Finds which flows are the two directions of one connection. An RC packet names only the receiver's queue pair. Responses
 * have the PSNs of the requests that they are for: each one is a vote for the connection of its flow with the flow of the
 * latest request of that PSN.
 */
export class Connections {
  readonly #flows: Flows;
  readonly #transmissions: Transmissions;
  readonly #requests = new RecentRows();
  readonly #reads = new Map<Endpoints, Read[]>();
  readonly #votes = new Map<Flow, Map<Flow, number>>();

  constructor(flows: Flows, transmissions: Transmissions) {
    this.#flows = flows;
    this.#transmissions = transmissions;
  }

  /** Takes account of the latest row. */
  add(row: number, flow: Flow): void {
    const transmissions = this.#transmissions;
    const opcode = opcodeOf(transmissions.opcode(row));
    if (opcode === undefined || opcode.role === 'notification') return;
    const psn = transmissions.psn(row);
    if (!opcode.request) {
      const request = this.#requestOf(row, psn, flow, opcode.name.endsWith('First') || opcode.name.endsWith('Only'));
      if (request !== undefined) this.#vote(flow, request);
    } else if (flow.srcQpn === undefined) {
      this.#requests.add(flow.endpoints.number, psn, row);
      const span = Math.ceil((transmissions.dmaLength(row) ?? 0) / LEAST_MTU);
      if (opcode.role === 'read' && span > 1) this.#read(flow.endpoints, { row, psn, span });
    }
  }

  /** Joins the flows. */
  join(): void {
    const ranked = [...this.#votes].flatMap(([a, row]) => [...row].map(([b, count]) => ({ a, b, count })));
    for (const { a, b } of ranked.sort((one, other) => other.count - one.count)) {
      // Of two with one address, a damaged packet may be given to the flow that it answers.
      if (a === b || a.of !== b.of) couple(a.of, b.of);
    }
    // Of those without a vote, a single one in each direction belongs together.
    const left = new Map<string, Set<Flow>>();
    for (const flow of this.#flows.all) {
      if (!isOpen(flow)) continue;
      const key = keyOf(flow, flow.endpoints);
      const group = left.get(key);
      if (group === undefined) left.set(key, new Set([flow]));
      else group.add(flow);
    }
    for (const flow of this.#flows.all) {
      if (!isOpen(flow)) continue;
      const group = left.get(keyOf(flow, flow.endpoints.reverse, true));
      const [other] = group ?? [];
      // Between an address and itself, a flow that is alone is no answer to itself.
      if (group?.size !== 1 || other === undefined || other === flow) continue;
      couple(flow, other);
      for (const each of [flow, other]) left.get(keyOf(each, each.endpoints))?.delete(each);
    }
  }

  /** The flow of the latest request that a response may be for. */
  #requestOf(row: number, psn: number, flow: Flow, exact: boolean): Flow | undefined {
    const { reverse } = flow.endpoints;
    const latest = (wanted: (other: Flow | undefined) => boolean) =>
      this.#requests.find(reverse.number, psn, row, (each) => {
        return this.#transmissions.psn(each) === psn && wanted(this.#flowOf(each));
      });
    const found = latest((other) => other !== flow && other?.endpoints === reverse);
    const read = exact && found >= 0 ? undefined : this.#reads.get(reverse)?.findLast(contains(psn));
    if (read !== undefined && read.row > found) return this.#flowOf(read.row);
    if (found >= 0) return this.#flowOf(found);
    // A queue pair that is connected with itself is its own opposite, if there is no other.
    return reverse === flow.endpoints && latest((other) => other === flow) >= 0 ? flow : undefined;
  }

  #flowOf(row: number): Flow | undefined {
    return this.#flows.all[this.#transmissions.flow(row)];
  }

  #read(endpoints: Endpoints, read: Read): void {
    const reads = this.#reads.get(endpoints);
    if (reads === undefined) this.#reads.set(endpoints, [read]);
    else if (reads.push(read) > MOST_READS) reads.shift();
  }

  #vote(a: Flow, b: Flow): void {
    // Both directions count for the same connection.
    const [first, second] = this.#votes.get(b)?.has(a) === true ? [b, a] : [a, b];
    let row = this.#votes.get(first);
    if (row === undefined) this.#votes.set(first, (row = new Map<Flow, number>()));
    row.set(second, (row.get(second) ?? 0) + 1);
  }
}

function contains(psn: number): (read: Read) => boolean {
  return (read) => psnDistance(psn, read.psn) >= 0 && psnDistance(psn, read.psn) < read.span;
}

function couple(a: Flow, b: Flow): void {
  if (a.reverse !== undefined || b.reverse !== undefined) return;
  a.reverse = b;
  b.reverse = a;
}

function isOpen(flow: Flow): boolean {
  return flow.of === flow && flow.packets > 0 && flow.reverse === undefined;
}

/** Datagrams name both queue pairs. */
function keyOf({ transport, srcQpn, destQpn }: Flow, { number }: Endpoints, opposite = false): string {
  const qpns = srcQpn === undefined ? [] : opposite ? [srcQpn, destQpn] : [destQpn, srcQpn];
  return [number, transport, ...qpns].join(' ');
}
