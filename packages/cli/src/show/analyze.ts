import { opcodeOf } from '@verbs/lib/packets';
import { CapturedReasons } from './captured-reasons.js';
import { Connections } from './connections.js';
import type { Course, Pair } from './course.js';
import { type Flow, Flows } from './flows.js';
import { Observations } from './observations.js';
import { Packets } from './packets.js';
import { Transmissions } from './transmissions.js';
import { isDamaged, isFatal, isRepeated, Judge, marksOf, missingOf } from './verdicts.js';

const WORD = 2 ** 32;

/**
 * Follows the conversations of a capture: who talks to whom, and what became of each packet. Memory holds some numbers of
 * each packet; the packets themselves are read again when they are wanted, so that the file stays open.
 */
export function analyze(file: string): Course & Disposable {
  const observations = new Observations(file);
  try {
    return follow(file, observations);
  } catch (error) {
    observations[Symbol.dispose]();
    throw error;
  }
}

function follow(file: string, observations: Observations): Course & Disposable {
  const transmissions = new Transmissions();
  const flows = new Flows();
  const connections = new Connections(flows, transmissions);
  const start = { high: 0, low: 0 };
  const last = { high: 0, low: 0 };
  let reasons: CapturedReasons | undefined;
  observations.walk((observation) => {
    const { high, low } = observation.frame;
    // The file was read once when the first packet comes.
    reasons ??= new CapturedReasons(observations.journal);
    if (transmissions.count === 0) Object.assign(start, { high, low });
    last.high = high;
    last.low = low;
    const flow = flows.find(observation);
    if (reasons.any && observation.frame.direction === 'received')
      reasons.received(observation.frame, observation.packet.destQpn, flow.endpoints.source);
    const row = transmissions.add(observation, flow);
    if (row === undefined) return;
    flow.count(observation, row);
    connections.add(row, flow);
  });
  flows.settle();
  connections.join();
  const pairs = pairsOf(flows);
  judge(transmissions, flows, pairs);
  reasons?.settle();
  const packets = new Packets(observations, transmissions, flows, { start, reasons });
  return {
    ...{ file, pairs, others: observations.others, cutOff: observations.cutOff },
    start: (BigInt(start.high) << 32n) | BigInt(start.low),
    duration: (last.high - start.high) * WORD + (last.low - start.low),
    packets: (wanted) => packets.inOrder(wanted),
    [Symbol.dispose]: () => {
      observations[Symbol.dispose]();
    },
  };
}

/** The flows in pairs, in the order of their first packets. */
function pairsOf(flows: Flows): Pair[] {
  const pairs: Pair[] = [];
  const done = new Set<Flow>();
  for (const flow of flows.all) {
    if (flow.of !== flow || flow.packets === 0 || done.has(flow)) continue;
    const [first, second] = inOrder(flow);
    for (const [from, each] of [first, second].entries()) {
      if (each === undefined) continue;
      done.add(each);
      each.pair = pairs.length;
      each.from = from === 0 ? 0 : 1;
    }
    pairs.push(pairOf(first, second));
  }
  return pairs;
}

/** The end that sent the first request is the first. */
function inOrder(flow: Flow): [Flow, Flow | undefined] {
  const { reverse } = flow;
  if (reverse === undefined || reverse === flow) return [flow, undefined];
  return reverse.firstRequest < flow.firstRequest || flow.firstRequest === Infinity ? [reverse, flow] : [flow, reverse];
}

function pairOf(first: Flow, second: Flow | undefined): Pair {
  const { source, destination, tunnel } = first.endpoints;
  const own = first.reverse === first ? first.destQpn : undefined;
  return {
    transport: first.transport,
    ends: [
      { address: source, qpn: second?.destQpn ?? first.srcQpn ?? own, requests: first.requests },
      { address: destination, qpn: first.destQpn, requests: second?.requests ?? 0 },
    ],
    tunnel,
    packets: first.packets + (second?.packets ?? 0),
    bytes: first.bytes + (second?.bytes ?? 0),
    marks: {},
  };
}

/** Judges each packet, counts the verdicts, and follows the states of the ends. */
function judge(transmissions: Transmissions, flows: Flows, pairs: readonly Pair[]): void {
  const judge = new Judge(transmissions, flows);
  for (let row = 0; row < transmissions.count; row += 1) {
    const verdict = judge.judge(row);
    const { pair: index, from } = flows.of(transmissions.flow(row));
    const pair = pairs[index];
    if (pair === undefined) continue;
    const { ends, marks } = pair;
    if (verdict !== 0) {
      for (const mark of marksOf(verdict)) marks[mark] = (marks[mark] ?? 0) + 1;
      const missing = missingOf(verdict);
      if (missing > 0) marks.missing = (marks.missing ?? 0) + missing;
      if (isDamaged(verdict)) continue;
    }
    const opcode = opcodeOf(transmissions.opcode(row));
    if (isFatal(verdict, transmissions.aeth(row))) for (const end of ends) end.state = 'ERR';
    else if (opcode?.request === true) ends[from].state = ends[from].state === 'ERR' ? 'ERR' : 'RTS';
    else if (opcode !== undefined && opcode.role !== 'notification') {
      // In ERR nothing is answered: these queue pairs, or others with their numbers, have been connected anew.
      if (ends[from].state === 'ERR' && !isRepeated(verdict)) {
        ends[from].state = 'RTR';
        ends[from === 0 ? 1 : 0].state = 'RTS';
      }
      ends[from].state ??= 'RTR';
    }
  }
}
