import { opcodeOf, syndromeText } from '@verbs/lib/packets';
import type { Mark } from './course.js';
import type { Flow, Flows } from './flows.js';
import { ReadResponses } from './read-responses.js';
import { RecentRows } from './recent-rows.js';
import { Requests } from './requests.js';
import { DAMAGED, SENT, type Transmissions } from './transmissions.js';

/** PSN sequence error: the requester sends again. */
const SEQUENCE_ERROR = 0x60;

/** A verdict is a number: 7 bits of marks, in the order of their names below; then how many PSNs were skipped before it. */
const LOST = 1;
const WRONG = 2;
const AGAIN = 4;
/** A retransmission of what was not captured. */
const FIRST_UNKNOWN = 8;
const NAK = 16;
const RNR = 32;
const REPEATED = 64;
const MISSING_AT = 7;

const NAMES: readonly (readonly [bit: number, mark: Mark])[] = [
  [LOST, 'lost'],
  [WRONG, 'damaged'],
  [AGAIN, 'retransmission'],
  [NAK, 'nak'],
  [RNR, 'rnr'],
  [REPEATED, 'repeated'],
];

/** What became of each packet, by the PSNs of its flow's requests and by the responses. */
export class Judge {
  readonly #transmissions: Transmissions;
  readonly #flows: Flows;
  readonly #requests: (Requests | undefined)[] = [];
  /** Of the flows that the responses are in. */
  readonly #reads: (ReadResponses | undefined)[] = [];
  readonly #responses = new RecentRows();

  constructor(transmissions: Transmissions, flows: Flows) {
    this.#transmissions = transmissions;
    this.#flows = flows;
  }

  /** Judges the rows in their order. Returns the verdict of the row. */
  judge(row: number): number {
    const transmissions = this.#transmissions;
    const flow = this.#flows.of(transmissions.flow(row));
    let verdict = 0;
    const arrived = transmissions.way(row) !== undefined;
    if (!arrived && transmissions.is(row, SENT) && this.#flows.hasReceiver(flow)) verdict |= LOST;
    // The numbers of a damaged packet cannot be believed.
    if (transmissions.is(row, DAMAGED) && flow.checksumsTell) verdict |= WRONG;
    else verdict |= this.#numbers(row, flow);
    transmissions.setVerdict(row, verdict);
    return verdict;
  }

  #numbers(row: number, flow: Flow): number {
    const transmissions = this.#transmissions;
    const opcode = opcodeOf(transmissions.opcode(row));
    if (opcode === undefined) return 0;
    let verdict = 0;
    // Datagrams have no sequence, and a queue pair sends them to many.
    if (opcode.request && opcode.transport !== 'UD') {
      const requests = (this.#requests[flow.number] ??= new Requests(flow.mtu));
      const length = opcode.role === 'read' ? (transmissions.dmaLength(row) ?? 0) : 0;
      const found = requests.add(transmissions.psn(row), length);
      if (found > 0) verdict |= found << MISSING_AT;
      else if (found < 0 && flow.transport !== 'UC') verdict |= requests.firstKnown ? AGAIN : AGAIN | FIRST_UNKNOWN;
      const again = found < 0 && requests.firstKnown;
      if (opcode.role === 'read' && !again && flow.reverse !== undefined) {
        const reads = (this.#reads[flow.reverse.number] ??= new ReadResponses());
        reads.ask(transmissions.psn(row), requests.spanOf(length) ?? 1);
      }
    }
    if (opcode.role === 'response') {
      verdict |= (this.#reads[flow.number]?.answer(transmissions.psn(row)) ?? 0) << MISSING_AT;
    }
    const aeth = transmissions.aeth(row);
    if (aeth !== undefined) {
      const kind = (aeth >>> 24) & 0x60;
      if (kind === 0x60) verdict |= NAK;
      if (kind === 0x20) verdict |= RNR;
    }
    if (opcode.role === 'response' || opcode.role === 'acknowledgement') {
      const word = transmissions.word(row);
      const before = this.#responses.find(flow.number, word, row, (each) => {
        const same = transmissions.word(each) === word && transmissions.aeth(each) === aeth;
        return same && this.#flows.of(transmissions.flow(each)) === flow;
      });
      if (before >= 0) verdict |= REPEATED;
      this.#responses.add(flow.number, word, row);
    }
    return verdict;
  }
}

/** PSNs that were skipped right before a packet. */
export function missingOf(verdict: number): number {
  return verdict >>> MISSING_AT;
}

/** Whether a packet is a NAK that ends the connection. */
export function isFatal(verdict: number, aeth: number | undefined): boolean {
  return (verdict & NAK) !== 0 && (((aeth ?? 0) >>> 24) & 0x7f) !== SEQUENCE_ERROR;
}

export function isDamaged(verdict: number): boolean {
  return (verdict & WRONG) !== 0;
}

/** Whether a packet is a response that was sent before. */
export function isRepeated(verdict: number): boolean {
  return (verdict & REPEATED) !== 0;
}

/** The marks of a verdict. */
export function marksOf(verdict: number): Mark[] {
  return NAMES.filter(([bit]) => (verdict & bit) !== 0).map(([, mark]) => mark);
}

/** What a verdict means, in words, with what a packet says itself. */
export function notesOf(
  verdict: number,
  opcode: number,
  aeth: number | undefined,
  message: string | undefined,
): string[] {
  const notes: string[] = [];
  if ((verdict & LOST) !== 0) notes.push('did not arrive');
  if ((verdict & WRONG) !== 0) return [...notes, 'damaged: the ICRC is wrong'];
  if ((verdict & FIRST_UNKNOWN) !== 0) notes.push('retransmission, the first was not captured');
  else if ((verdict & AGAIN) !== 0) notes.push('retransmission');
  const syndrome = aeth === undefined ? 0 : aeth >>> 24;
  // That a READ's response is no NAK goes without saying.
  const told = opcodeOf(opcode)?.role === 'acknowledgement' || (syndrome & 0x60) !== 0;
  if (aeth !== undefined && told) notes.push(syndromeText(syndrome));
  if ((verdict & REPEATED) !== 0) notes.push('sent before');
  if (message !== undefined) notes.push(message);
  return notes;
}
