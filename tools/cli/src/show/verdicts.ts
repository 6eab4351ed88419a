import { syndromeText } from '@verbs/lib/packets';
import type { Mark } from './course.js';
import type { Flow } from './flows.js';
import { addPsn, psnDistance } from './psn.js';
import type { Transmission } from './transmissions.js';

export interface Verdict {
  marks: Mark[];
  notes: string[];
  /** PSNs that were skipped right before this packet. */
  missing: number[];
  /** A NAK that ends the connection. */
  fatal?: boolean;
}

/** PSN sequence error: the requester sends again. */
const SEQUENCE_ERROR = 0x60;

/** More PSNs than these at once are a new connection or a capture with a gap. */
const MOST_MISSING = 64;

/** What happened to each packet of a flow, by the PSNs of its requests and of the responses. */
export function judge(flow: Flow): Map<Transmission, Verdict> {
  const verdicts = new Map<Transmission, Verdict>();
  const requests = new Requests(flow);
  const responses = new Set<string>();
  const checksums = checksumsTell(flow);
  for (const transmission of flow.transmissions) {
    const verdict: Verdict = { marks: [], notes: [], missing: [] };
    verdicts.set(transmission, verdict);
    const { seen, lost, damaged } = transmission;
    const { opcode, psn, syndrome, msn } = seen.transport;
    if (lost) add(verdict, 'lost', 'did not arrive');
    if (damaged && checksums) {
      add(verdict, 'damaged', 'damaged: the ICRC is wrong');
      // Its numbers cannot be believed.
      continue;
    }
    if (opcode === undefined) continue;
    if (opcode.request) requests.judge(transmission, verdict);
    if (syndrome !== undefined) {
      // That a READ's response is no NAK goes without saying.
      if (opcode.role === 'acknowledgement' || (syndrome & 0x60) !== 0) verdict.notes.push(syndromeText(syndrome));
      if ((syndrome & 0x60) === 0x60) {
        verdict.marks.push('nak');
        verdict.fatal = (syndrome & 0x7f) !== SEQUENCE_ERROR;
      }
      if ((syndrome & 0x60) === 0x20) verdict.marks.push('rnr');
    }
    if (opcode.role === 'response' || opcode.role === 'acknowledgement') {
      const key = [opcode.name, psn, syndrome, msn].join('|');
      if (responses.has(key)) add(verdict, 'repeated', 'sent before');
      responses.add(key);
    }
    if (seen.message !== undefined) verdict.notes.push(seen.message);
  }
  return verdicts;
}

/** A checksum covers fields that a capture at a socket cannot show; where most are wrong, none is. */
function checksumsTell({ transmissions }: Flow): boolean {
  return transmissions.filter(({ seen }) => seen.icrc === false).length * 2 <= transmissions.length;
}

function add(verdict: Verdict, mark: Mark, note: string): void {
  verdict.marks.push(mark);
  verdict.notes.push(note);
}

/** The PSNs of a requester. */
class Requests {
  readonly #flow: Flow;
  readonly #mtu: number | undefined;
  readonly #seen = new Set<number>();
  /** The PSN of the next new request; undefined where it is not known. */
  #next: number | undefined;

  constructor(flow: Flow) {
    this.#flow = flow;
    this.#mtu = mtuOf(flow);
  }

  judge({ seen }: Transmission, verdict: Verdict): void {
    const { opcode, psn, dmaLength } = seen.transport;
    // Datagrams have no sequence, and a queue pair sends them to many.
    if (opcode === undefined || opcode.transport === 'UD') return;
    const distance = this.#next === undefined ? 0 : psnDistance(psn, this.#next);
    if (distance < 0) {
      const note = this.#seen.has(psn) ? 'retransmission' : 'retransmission, the first was not captured';
      if (this.#flow.transport !== 'UC') add(verdict, 'retransmission', note);
    } else if (distance <= MOST_MISSING) {
      verdict.missing = Array.from({ length: distance }, (_, i) => addPsn(psn, i - distance));
    }
    this.#seen.add(psn);
    const span = opcode.role === 'read' ? this.#readSpan(dmaLength ?? 0) : 1;
    const next = span === undefined ? undefined : addPsn(psn, span);
    if (next === undefined) this.#next = undefined;
    else if (this.#next === undefined || psnDistance(next, this.#next) > 0) this.#next = next;
  }

  /** The PSNs that the responses of a READ take: one for each packet. */
  #readSpan(length: number): number | undefined {
    if (this.#mtu !== undefined) return Math.max(1, Math.ceil(length / this.#mtu));
    return length <= 256 ? 1 : undefined;
  }
}

/** The MTU of a connection: the payload of a packet that is not the last of its message. */
function mtuOf({ transmissions, reverse }: Flow): number | undefined {
  const all = reverse === undefined ? transmissions : [...transmissions, ...reverse.transmissions];
  const full = all.find(({ seen }) => /First|Middle/.test(seen.transport.opcode?.name ?? ''));
  if (full !== undefined) return full.seen.payload;
  // Every READ was answered by one packet each: the MTU is not smaller than the longest.
  const longest = Math.max(
    0,
    ...all.map(({ seen }) => ((seen.transport.opcode?.name ?? '').includes('response Only') ? seen.payload : 0)),
  );
  return longest > 0 ? longest : undefined;
}
