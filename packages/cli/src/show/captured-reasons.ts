import type { FrameRecord, JournalFields } from '@verbs/lib/capture-files';
import { nanosecondsOf, reasonOf } from '../capture/reasons.js';
import { addressText } from '../text.js';

interface Reason {
  /** Nanoseconds since 1970. */
  time: bigint;
  /** The sender, if the report has it. */
  source: string | undefined;
  note: string;
  /** When the last packet before it came. */
  packet: bigint | undefined;
}

/** A report has microseconds, a packet nanoseconds. */
const ROUNDING = 999n;

/**
 * Why the receivers of packets dropped or refused them, where the capture has it: `verbs capture` writes the reasons of the software NIC
 * into it. A reason belongs to the last packet that the queue pair received before.
 */
export class CapturedReasons {
  readonly #byQueuePair = new Map<number, Reason[]>();
  readonly #notes = new Map<string, string[]>();

  constructor(journal: readonly JournalFields[]) {
    for (const fields of journal) {
      const report = reasonOf(fields);
      const what = { arrival: 'dropped', responder: 'refused' }[report?.place as string];
      if (report?.qpNum === undefined || what === undefined) continue;
      const { qpNum, peerGid, text } = report;
      const source = typeof peerGid === 'string' && peerGid !== '' ? addressText(peerGid) : undefined;
      const reason = { time: nanosecondsOf(report.time), source, note: `${what}: ${text}`, packet: undefined };
      const list = this.#byQueuePair.get(qpNum) ?? [];
      list.push(reason);
      this.#byQueuePair.set(qpNum, list);
    }
  }

  /** Whether there is anything to tell. */
  get any(): boolean {
    return this.#byQueuePair.size > 0;
  }

  /** A packet that was received. */
  received({ high, low }: FrameRecord, qpNum: number, source: string): void {
    const reasons = this.#byQueuePair.get(qpNum);
    if (reasons === undefined) return;
    const time = (BigInt(high) << 32n) | BigInt(low);
    for (const reason of reasons) {
      if (time > reason.time + ROUNDING || (reason.source !== undefined && reason.source !== source)) continue;
      if (reason.packet === undefined || time > reason.packet) reason.packet = time;
    }
  }

  /** All packets have been seen. */
  settle(): void {
    for (const [qpNum, reasons] of this.#byQueuePair) {
      for (const { packet, note } of reasons) {
        if (packet === undefined) continue;
        const key = `${qpNum} ${packet}`;
        const notes = this.#notes.get(key) ?? [];
        if (!notes.includes(note)) notes.push(note);
        this.#notes.set(key, notes);
      }
    }
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
}
