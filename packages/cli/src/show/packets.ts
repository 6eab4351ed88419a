import type { FrameRecord } from '@verbs/lib/capture-files';
import { dissect, opcodeOf } from '@verbs/lib/packets';
import type { CapturedReasons } from './captured-reasons.js';
import type { Mark, Packet, Wanted } from './course.js';
import type { Flow, Flows } from './flows.js';
import type { Observation, Observations } from './observations.js';
import { addPsn } from './psn.js';
import { type Transmissions, UNSEEN } from './transmissions.js';
import { marksOf, missingOf, notesOf } from './verdicts.js';

const WORD = 2 ** 32;
/** More than all headers: the bytes that are shown of a packet. */
const KEPT = 256;
const MANAGEMENT_QP = 1;

/** The packets of a capture with what became of them, read from the file in the order of time. */
export class Packets {
  readonly #observations: Observations;
  readonly #transmissions: Transmissions;
  readonly #flows: Flows;
  readonly #start: { high: number; low: number };
  readonly #reasons: CapturedReasons | undefined;
  /** Marks and notes by verdict and syndrome: there are few of them. */
  readonly #words = new Map<number, { marks: Mark[]; notes: string[] }>();

  constructor(
    observations: Observations,
    transmissions: Transmissions,
    flows: Flows,
    { start, reasons }: { start: { high: number; low: number }; reasons: CapturedReasons | undefined },
  ) {
    this.#observations = observations;
    this.#transmissions = transmissions;
    this.#flows = flows;
    this.#start = start;
    this.#reasons = reasons?.none === false ? reasons : undefined;
  }

  *inOrder({ pairs, bytes = true }: Wanted = {}): Generator<Packet> {
    const { count } = this.#transmissions;
    let number = 0;
    for (let row = 0; row < count; row += 1) {
      const missing = missingOf(this.#transmissions.verdict(row));
      number += missing + 1;
      const flow = this.#flows.of(this.#transmissions.flow(row));
      if (pairs?.has(flow.pair) === false) continue;
      const packet = this.#packet(row, number, flow, bytes);
      // Packets that only a gap in the PSNs tells of: lost before they reached the capture.
      for (let back = missing; back > 0; back -= 1) yield missingBefore(packet, back);
      yield packet;
    }
  }

  #packet(row: number, number: number, { pair, from }: Flow, bytes: boolean): Packet {
    const transmissions = this.#transmissions;
    const observation = this.#observations.again(transmissions.position(row));
    const { frame, packet } = observation;
    const opcode = opcodeOf(packet.opcode);
    const seen = (frame.high - this.#start.high) * WORD + (frame.low - this.#start.low);
    const way = transmissions.way(row);
    const { marks, notes } = this.#told(row, observation);
    const unseen = transmissions.is(row, UNSEEN);
    const received = unseen ? seen : way === undefined ? undefined : seen + way;
    return {
      number,
      pair,
      from,
      sent: unseen ? undefined : seen,
      received,
      name: opcode?.name ?? 'unknown opcode',
      role: opcode?.role ?? 'other',
      psn: packet.psn,
      payload: packet.payload,
      length: frame.length,
      marks,
      notes: this.#withReasons(notes, packet.destQpn, received),
      bytes: bytes ? firstBytes(frame) : undefined,
      link: frame.link,
      at: packet.place.at - frame.offset,
    };
  }

  /** With why its receiver dropped or refused it. */
  #withReasons(notes: readonly string[], destQpn: number, received: number | undefined): readonly string[] {
    if (this.#reasons === undefined || received === undefined) return notes;
    const { high, low } = this.#start;
    const reasons = this.#reasons.of(destQpn, (BigInt(high) << 32n) + BigInt(low + received));
    return reasons.length === 0 ? notes : [...notes, ...reasons];
  }

  #told(row: number, { frame, packet }: Observation): { marks: Mark[]; notes: string[] } {
    const verdict = this.#transmissions.verdict(row);
    const aeth = this.#transmissions.aeth(row);
    if (packet.destQpn === MANAGEMENT_QP && packet.srcQpn >= 0) {
      const { message } = dissect(frame.bytes, frame.link, frame.length);
      return { marks: marksOf(verdict), notes: notesOf(verdict, packet.opcode, aeth, message) };
    }
    const key = ((verdict & 0x7f) << 16) | (packet.opcode << 8) | (aeth === undefined ? 0 : aeth >>> 24);
    let words = this.#words.get(key);
    if (words === undefined) {
      words = { marks: marksOf(verdict), notes: notesOf(verdict, packet.opcode, aeth, undefined) };
      this.#words.set(key, words);
    }
    return words;
  }
}

/** A copy: the frame is overwritten by the next one. */
function firstBytes({ view, offset, size }: FrameRecord): Buffer {
  const bytes = Buffer.allocUnsafe(Math.min(size, KEPT));
  for (let i = 0; i < bytes.length; i += 1) bytes[i] = view.getUint8(offset + i);
  return bytes;
}

function missingBefore({ number, pair, from, role, psn, sent, received, link }: Packet, back: number): Packet {
  const what = role === 'response' ? 'response' : 'request';
  return {
    ...{ number: number - back, pair, from, psn: addPsn(psn, -back), sent: sent ?? received, received: undefined },
    ...{ name: 'not captured', role: 'other', payload: 0, length: 0, bytes: undefined, link, at: 0 },
    marks: ['missing'],
    notes: [`a ${what} with this PSN was lost`],
  };
}
