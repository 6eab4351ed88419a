import { addPsn, psnDistance } from './psn.js';
import { MOST_MISSING } from './requests.js';

/** READs that responses may still come for: a device has fewer of them at a time. */
const MOST_READS = 64;

interface Read {
  psn: number;
  span: number;
  /** The PSN of the next response. */
  next: number;
}

/** The PSNs of the responses to the READs of one requester: a READ takes one for each packet of its response. */
export class ReadResponses {
  readonly #reads: Read[] = [];

  /** A READ, but not one that is sent again: responses to the first one may still be on their way. */
  ask(psn: number, span: number): void {
    if (this.#reads.push({ psn, span, next: psn }) > MOST_READS) this.#reads.shift();
  }

  /** How many PSNs were skipped in front of a response; 0 without a gap, or for one that is too long. */
  answer(psn: number): number {
    const at = this.#reads.findLastIndex((read) => contains(read, psn));
    const read = this.#reads[at];
    if (read === undefined) return 0;
    const skipped = psnDistance(psn, read.next);
    if (skipped >= 0) read.next = addPsn(psn, 1);
    if (!contains(read, read.next)) this.#reads.splice(at, 1);
    return skipped > 0 && skipped <= MOST_MISSING ? skipped : 0;
  }
}

function contains({ psn: first, span }: Read, psn: number): boolean {
  const place = psnDistance(psn, first);
  return place >= 0 && place < span;
}
