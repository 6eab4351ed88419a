import type { Course, End, Packet, Pair } from './course.js';
import { type Flow, flowsOf } from './flows.js';
import type { Observations } from './observations.js';
import { join, type Transmission } from './transmissions.js';
import { judge, type Verdict } from './verdicts.js';

interface Placed {
  transmission: Transmission;
  verdict: Verdict;
  pair: number;
  from: 0 | 1;
}

/** Follows the conversations of a capture: who talks to whom, and what became of each packet. */
export function analyze(file: string, { rdma, others }: Observations): Course {
  const transmissions = join(rdma);
  const flows = flowsOf(transmissions);
  const pairs: Pair[] = [];
  const placed = new Map<Transmission, Placed>();
  const done = new Set<Flow>();
  for (const flow of flows) {
    if (done.has(flow)) continue;
    const [first, second] = inOrder(flow);
    pairs.push(pairOf(first, second));
    for (const [from, each] of [first, second].entries()) {
      if (each === undefined || done.has(each)) continue;
      done.add(each);
      for (const [transmission, verdict] of judge(each)) {
        placed.set(transmission, { transmission, verdict, pair: pairs.length - 1, from: from === 0 ? 0 : 1 });
      }
    }
  }
  const start = rdma[0]?.time ?? 0n;
  const packets: Packet[] = [];
  for (const transmission of transmissions) {
    const place = placed.get(transmission);
    if (place === undefined) continue;
    packets.push(...missingPackets(place, start), packetOf(place, start));
    see(pairs[place.pair], place);
  }
  for (const [i, packet] of packets.entries()) {
    packet.number = i + 1;
    count(pairs, packet);
  }
  return { file, start, duration: Number((rdma.at(-1)?.time ?? start) - start), pairs, packets, others };
}

/** The end that sent the first request is the first. */
function inOrder(flow: Flow): [Flow, Flow | undefined] {
  const { reverse } = flow;
  if (reverse === undefined || reverse === flow) return [flow, undefined];
  const first = (each: Flow) => each.transmissions.find(({ seen }) => seen.transport.opcode?.request)?.seen.time;
  const [one, other] = [first(flow), first(reverse)];
  return one === undefined || (other !== undefined && other < one) ? [reverse, flow] : [flow, reverse];
}

function pairOf(first: Flow, second: Flow | undefined): Pair {
  const own = first.reverse === first ? first.destQpn : undefined;
  const ends: [End, End] = [
    { address: first.source, qpn: second?.destQpn ?? first.srcQpn ?? own, requests: 0 },
    { address: first.destination, qpn: first.destQpn, requests: 0 },
  ];
  return { transport: first.transport, ends, tunnel: first.tunnel, packets: 0, bytes: 0, marks: {} };
}

function packetOf({ transmission, verdict, pair, from }: Placed, start: bigint): Packet {
  const { seen, sent, received } = transmission;
  const { opcode, psn } = seen.transport;
  return {
    ...{ number: 0, pair, from, psn, marks: verdict.marks, notes: verdict.notes },
    ...(sent !== undefined && { sent: Number(sent - start) }),
    ...(received !== undefined && { received: Number(received - start) }),
    name: opcode?.name ?? 'unknown opcode',
    role: opcode?.role ?? 'other',
    ...{ payload: seen.payload, length: seen.length, bytes: seen.data, link: seen.link, at: seen.at },
  };
}

/** Packets that only a gap in the PSNs tells of: lost before they reached the capture. */
function missingPackets({ transmission, verdict, pair, from }: Placed, start: bigint): Packet[] {
  const { seen } = transmission;
  return verdict.missing.map((psn) => ({
    ...{
      number: 0,
      pair,
      from,
      psn,
      name: 'not captured',
      role: 'other',
      payload: 0,
      length: 0,
      link: seen.link,
      at: 0,
    },
    sent: Number(seen.time - start),
    marks: ['missing'],
    notes: ['a request with this PSN was lost'],
  }));
}

/** What a packet tells of the states of both ends. */
function see(pair: Pair | undefined, { transmission, verdict, from }: Placed): void {
  const { opcode } = transmission.seen.transport;
  if (pair === undefined || opcode === undefined || verdict.marks.includes('damaged')) return;
  const { ends } = pair;
  if (verdict.fatal === true) for (const end of ends) end.state = 'ERR';
  else if (opcode.request) ends[from].state = ends[from].state === 'ERR' ? 'ERR' : 'RTS';
  else ends[from].state ??= 'RTR';
}

function count(pairs: Pair[], { pair: index, from, role, marks, length }: Packet): void {
  const pair = pairs[index];
  if (pair === undefined) return;
  for (const mark of marks) pair.marks[mark] = (pair.marks[mark] ?? 0) + 1;
  if (marks.includes('missing')) return;
  pair.packets += 1;
  pair.bytes += length;
  if (['send', 'write', 'read', 'atomic', 'other'].includes(role)) pair.ends[from].requests += 1;
}
