import type { FrameRecord } from '@verbs/lib/capture-files';
import { opcodeOf } from '@verbs/lib/packets';
import { Column } from './column.js';
import type { Flow } from './flows.js';
import type { Observation } from './observations.js';
import { RECENT, RecentRows } from './recent-rows.js';

const WORD = 2 ** 32;

/** Bits of a transmission's state. */
export const SENT = 1;
/** Only its receiver saw it. */
export const UNSEEN = 2;
/** Its bytes changed on the way, or its checksum is wrong. */
export const DAMAGED = 4;
/** It has the header that `detail` is of. */
const DETAILED = 8;
/** Where the bits begin for the verdict, and for what is above 32 bits of its position in the file. */
const VERDICT_AT = 4;
const VERDICT_BITS = 14;
const POSITION_AT = VERDICT_AT + VERDICT_BITS;

/** Sent packets that may still arrive, for packets whose addresses or numbers are damaged. */
const PENDING = 64;
const KEPT = 256;
const MOST_DAMAGED_BYTES = 8;

/** Of the opcodes, by number: whether they have an AETH. */
const ACKNOWLEDGES = Array.from({ length: 256 }, (_, number) => opcodeOf(number)?.extensions.includes('AETH') === true);

/**
 * The packets on their way: what the sender saw, what the receiver saw. A table of millions of rows, in columns: in the order
 * of time, by the sender's view if there is one.
 */
export class Transmissions {
  #count = 0;
  readonly #positions = new Column();
  readonly #flows = new Column();
  /** The opcode's number, and 24 bits of PSN. */
  readonly #words = new Column();
  /** The AETH, or the length of the RETH. */
  readonly #details = new Column();
  readonly #states = new Column();
  /** Nanoseconds from the sender to the receiver, and one; those that are too long are in the map. */
  readonly #ways = new Column();
  readonly #longWays = new Map<number, number>();

  /** What is kept of the latest rows for a match. */
  readonly #waiting = new RecentRows();
  readonly #high = new Int32Array(RECENT);
  readonly #low = new Uint32Array(RECENT);
  readonly #sums = new Uint32Array(RECENT);
  readonly #pending = new Pending();

  get count(): number {
    return this.#count;
  }

  /** Where the packet is in the file. */
  position(row: number): number {
    return (this.#states.get(row) >>> POSITION_AT) * WORD + this.#positions.get(row);
  }

  /** The number of its flow. */
  flow(row: number): number {
    return this.#flows.get(row);
  }

  opcode(row: number): number {
    return this.#words.get(row) >>> 24;
  }

  psn(row: number): number {
    return this.#words.get(row) & 0xffffff;
  }

  /** Opcode and PSN together. */
  word(row: number): number {
    return this.#words.get(row);
  }

  /** Syndrome and MSN of an AETH, which has the opcode; undefined if the packet was cut off there. */
  aeth(row: number): number | undefined {
    return ACKNOWLEDGES[this.opcode(row)] === true ? this.#detail(row) : undefined;
  }

  /** The bytes of the message that a RETH is for. */
  dmaLength(row: number): number | undefined {
    return ACKNOWLEDGES[this.opcode(row)] === true ? undefined : this.#detail(row);
  }

  is(row: number, bit: number): boolean {
    return (this.#states.get(row) & bit) !== 0;
  }

  /** Nanoseconds from the sender to the receiver; undefined if it is not known to have arrived. */
  way(row: number): number | undefined {
    const way = this.#ways.get(row);
    return way === 0 ? undefined : (this.#longWays.get(row) ?? way - 1);
  }

  /** A number of 14 bits that says what became of it. */
  verdict(row: number): number {
    return (this.#states.get(row) >>> VERDICT_AT) & ((1 << VERDICT_BITS) - 1);
  }

  setVerdict(row: number, verdict: number): void {
    this.#states.set(row, this.#states.get(row) | (verdict << VERDICT_AT));
  }

  /** Adds what one end saw. Returns the row of a packet that was not seen before, or undefined. */
  add(observation: Observation, flow: Flow): number | undefined {
    const { frame, packet } = observation;
    const received = frame.direction === 'received';
    if (frame.direction === 'sent') flow.sent = true;
    if (received) {
      flow.endpoints.received = true;
      flow.received = true;
      const match = this.#match(observation, flow);
      if (match >= 0) {
        this.#arrive(match, observation);
        return undefined;
      }
    }
    const row = this.#count;
    this.#count += 1;
    const detail = packet.aeth >= 0 ? packet.aeth : packet.dmaLength;
    this.#positions.set(row, frame.at % WORD);
    this.#flows.set(row, flow.number);
    this.#words.set(row, packet.opcode * 2 ** 24 + packet.psn);
    if (detail > 0) this.#details.set(row, detail);
    this.#states.set(
      row,
      (frame.direction === 'sent' ? SENT : 0) |
        (received ? UNSEEN : 0) |
        (packet.icrc === false ? DAMAGED : 0) |
        (detail >= 0 ? DETAILED : 0) |
        (Math.floor(frame.at / WORD) << POSITION_AT),
    );
    if (!received) this.#wait(row, observation, flow);
    return row;
  }

  #detail(row: number): number | undefined {
    return this.is(row, DETAILED) ? this.#details.get(row) : undefined;
  }

  #wait(row: number, { frame, packet }: Observation, flow: Flow): void {
    const at = row & (RECENT - 1);
    this.#high[at] = frame.high;
    this.#low[at] = frame.low;
    this.#sums[at] = packet.sum();
    this.#waiting.add(flow.number, packet.psn, row);
    this.#pending.add(row, frame, flow);
  }

  /** The latest sent packet that this one may be: an earlier one with the same number was lost, or there were no second. */
  #match({ frame, packet }: Observation, flow: Flow): number {
    const word = packet.opcode * 2 ** 24 + packet.psn;
    const row = this.#waiting.find(flow.number, packet.psn, this.#count, (each) => {
      if (this.#words.get(each) !== word || this.#flows.get(each) !== flow.number || this.#ways.get(each) !== 0)
        return false;
      const aeth = this.aeth(each);
      return aeth === undefined || packet.aeth < 0 || aeth >>> 24 === packet.aeth >>> 24;
    });
    if (row >= 0 || packet.icrc !== false) return row;
    return this.#pending.find(frame, flow, (each) => this.#ways.get(each) === 0);
  }

  #arrive(row: number, { frame, packet }: Observation): void {
    const at = row & (RECENT - 1);
    const way = (frame.high - (this.#high[at] ?? 0)) * WORD + (frame.low - (this.#low[at] ?? 0));
    this.#ways.set(row, Math.min(way + 1, WORD - 1));
    if (way + 1 >= WORD) this.#longWays.set(row, way);
    const changed = packet.icrc === false || this.#sums[at] !== packet.sum();
    if (changed) this.#states.set(row, this.#states.get(row) | DAMAGED);
  }
}

/** The last packets that were sent, with their bytes. */
class Pending {
  readonly #rows = new Int32Array(PENDING).fill(-1);
  readonly #flows: Flow[] = [];
  readonly #lengths = new Uint32Array(PENDING);
  readonly #sizes = new Uint32Array(PENDING);
  readonly #bytes = new DataView(new ArrayBuffer(PENDING * KEPT));
  #next = 0;

  add(row: number, frame: FrameRecord, flow: Flow): void {
    const slot = this.#next;
    this.#next = (slot + 1) % PENDING;
    const size = Math.min(frame.size, KEPT);
    this.#rows[slot] = row;
    this.#flows[slot] = flow;
    this.#lengths[slot] = frame.length;
    this.#sizes[slot] = size;
    let i = 0;
    for (; i + 4 <= size; i += 4) this.#bytes.setUint32(slot * KEPT + i, frame.view.getUint32(frame.offset + i));
    for (; i < size; i += 1) this.#bytes.setUint8(slot * KEPT + i, frame.view.getUint8(frame.offset + i));
  }

  /** The latest one that differs in few bytes from a damaged packet. */
  find(frame: FrameRecord, { endpoints }: Flow, wanted: (row: number) => boolean): number {
    for (let back = 1; back <= PENDING; back += 1) {
      const slot = (this.#next - back + PENDING) % PENDING;
      const row = this.#rows[slot] ?? -1;
      if (row < 0) return -1;
      if (this.#flows[slot]?.endpoints !== endpoints || this.#lengths[slot] !== frame.length || !wanted(row)) continue;
      if (this.#differences(slot, frame) <= MOST_DAMAGED_BYTES) return row;
    }
    return -1;
  }

  #differences(slot: number, { view, offset, size }: FrameRecord): number {
    let count = 0;
    for (let i = 0; i < Math.min(size, KEPT) && count <= MOST_DAMAGED_BYTES; i += 1) {
      if (i >= (this.#sizes[slot] ?? 0) || this.#bytes.getUint8(slot * KEPT + i) !== view.getUint8(offset + i))
        count += 1;
    }
    return count;
  }
}
