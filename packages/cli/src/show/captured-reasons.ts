import type { FrameRecord, JournalFields } from '@verbs/lib/capture-files';
import { nanosecondsOf, reasonOf } from '../capture/reasons.js';
import { addressText } from '../text.js';

interface Reason {
  /** Nanoseconds since 1970. */
  time: bigint;
  /** The sender, if the report has it. */
  source: string | undefined;
  note: string;
}

/** The reasons of a queue pair in the order of time, and the packets that it received so far. */
interface QueuePair {
  reasons: Reason[];
  /** The first reason that a packet may still come for. */
  next: number;
  /** When the last packet came, and the last one of each sender. */
  last: bigint | undefined;
  lastOf: Map<string, bigint>;
}

/** A report has microseconds, a packet nanoseconds. */
const ROUNDING = 999n;

/**
 * Why the receivers of packets dropped or refused them, where the capture has it: `verbs capture` writes the reasons of the software NIC
 * into it. A reason belongs to the last packet that the queue pair received before.
 */
export class CapturedReasons {
  readonly #byQueuePair = new Map<number, QueuePair>();
  readonly #notes = new Map<string, string[]>();

  constructor(journal: readonly JournalFields[]) {
    for (const fields of journal) {
      const report = reasonOf(fields);
      const what = { arrival: 'dropped', responder: 'refused' }[report?.place as string];
      if (report?.qpNum === undefined || what === undefined) continue;
      const { qpNum, peerGid, text } = report;
      const source = typeof peerGid === 'string' && peerGid !== '' ? addressText(peerGid) : undefined;
      const known = this.#byQueuePair.get(qpNum);
      const reasons: Reason[] = known?.reasons ?? [];
      reasons.push({ time: nanosecondsOf(report.time), source, note: `${what}: ${text}` });
      if (known === undefined) this.#byQueuePair.set(qpNum, { reasons, next: 0, last: undefined, lastOf: new Map() });
    }
    // Those of several processes follow each other.
    for (const { reasons } of this.#byQueuePair.values())
      reasons.sort((a, b) => (a.time < b.time ? -1 : Number(a.time > b.time)));
  }

  /** Whether there is anything to tell. */
  get any(): boolean {
    return this.#byQueuePair.size > 0;
  }

  /** A packet that was received: in the order of time. */
  received({ high, low }: FrameRecord, qpNum: number, source: string): void {
    const queuePair = this.#byQueuePair.get(qpNum);
    if (queuePair === undefined) return;
    const time = (BigInt(high) << 32n) | BigInt(low);
    this.#tell(qpNum, queuePair, time);
    queuePair.last = time;
    queuePair.lastOf.set(source, time);
  }

  /** All packets have been seen. */
  settle(): void {
    for (const [qpNum, queuePair] of this.#byQueuePair) this.#tell(qpNum, queuePair);
    this.#byQueuePair.clear();
  }

  /** The notes of a packet. `time` is nanoseconds since 1970. */
  of(qpNum: number, time: bigint): readonly string[] {
    return this.#notes.get(`${qpNum} ${time}`) ?? [];
  }

  /** Whether no packet has notes. */
  get none(): boolean {
    return this.#notes.size === 0;
  }

  /** Tells the reasons in front of that time, or all, at the last packets. */
  #tell(qpNum: number, queuePair: QueuePair, before?: bigint): void {
    for (let reason; (reason = queuePair.reasons[queuePair.next]) !== undefined; queuePair.next += 1) {
      const { time, source, note } = reason;
      if (before !== undefined && time + ROUNDING >= before) return;
      const packet = source === undefined ? queuePair.last : queuePair.lastOf.get(source);
      if (packet === undefined) continue;
      const key = `${qpNum} ${packet}`;
      const notes = this.#notes.get(key) ?? [];
      if (!notes.includes(note)) notes.push(note);
      this.#notes.set(key, notes);
    }
  }
}
