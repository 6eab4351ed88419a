import type { LadderPacket } from './packet.js';

/** A run that is shorter is drawn packet by packet. */
const LEAST = 4;

/** The runs that the reader has unfolded, by the numbers of their first packets. */
export type Unfolded = ReadonlySet<number>;

/**
 * Folds each burst into one arrow: packets of one end of a pair with the same operation and without a mark, each of which leaves while the one
 * before is still on its way. Drawn one by one, their arrows would cross the labels of those behind.
 */
export function fold(packets: readonly LadderPacket[], unfolded: Unfolded = new Set()): LadderPacket[] {
  const runs = new Map<string, LadderPacket[]>();
  const inRun = new Map<LadderPacket, LadderPacket[]>();
  for (const packet of packets) {
    const end = `${packet.pair} ${packet.from}`;
    const run = runs.get(end);
    if (run !== undefined && continues(run.at(-1), packet)) {
      run.push(packet);
      inRun.set(packet, run);
    } else {
      const begun = [packet];
      runs.set(end, begun);
      inRun.set(packet, begun);
    }
  }
  return packets.flatMap((packet) => {
    const run = inRun.get(packet) ?? [];
    const [first] = run;
    if (run.length < LEAST || first === undefined || unfolded.has(first.number)) return [packet];
    return packet === first ? [{ ...first, received: run.at(-1)?.received, folded: run }] : [];
  });
}

/** The number of the run's first packet, if the packet is drawn as a part of one. */
export function foldOf(folded: readonly LadderPacket[], { number }: LadderPacket): number | undefined {
  return folded.find((each) => each.folded?.some((packet) => packet.number === number))?.number;
}

function continues(before: LadderPacket | undefined, { name, marks, sent }: LadderPacket): boolean {
  if (before === undefined || marks.length > 0 || before.marks.length > 0 || name !== before.name) return false;
  return sent !== undefined && before.received !== undefined && sent < before.received;
}
