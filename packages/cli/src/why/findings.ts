import type { ReasonReport } from '@verbs/soft';

/** Of a reason that repeats itself a program reports every time up to this count, and each doubling from there on. */
const EXACT = 64n;

/** A packet came to a queue pair that had failed before: whatever came first is the cause. */
export const FAILED = 'drop_failed';

/** Reasons that another one has caused, as a rule: a queue pair that failed, or a peer that refused. */
const CONSEQUENCES: ReadonlySet<string> = new Set([
  FAILED,
  'drop_state',
  'drop_unknown_qp',
  'drop_lost_message',
  'peer_refused',
  'no_answer',
  'bad_response',
  'flushed',
]);

/** What the programs of a run have reported: the causes of what a peer refused, and how often each reason was there. */
export class Findings {
  /** The newest of each process, device and reason: its count is that of all. */
  readonly #newest = new Map<string, ReasonReport>();
  readonly #refusals: ReasonReport[] = [];

  /** Completes the report with what the peer's end had against the request, if that has reported it. */
  add(reason: ReasonReport): ReasonReport {
    this.#newest.set(`${reason.pid} ${reason.device} ${reason.reason}`, reason);
    if (reason.place === 'responder' || reason.place === 'arrival') this.#refusals.push(reason);
    const cause = reason.peers === undefined ? this.#causeOf(reason) : undefined;
    return cause === undefined
      ? reason
      : { ...reason, peers: { reason: cause.reason, text: cause.text, help: cause.help } };
  }

  /** The queue pairs of a user's processes have numbers of their own, one space for the whole host. */
  #causeOf({ reason, qpNum, peerQpNum }: ReasonReport): ReasonReport | undefined {
    const concerns = (other: ReasonReport): boolean => {
      if (reason === 'peer_refused') {
        return other.place === 'responder' && other.qpNum === peerQpNum && other.peerQpNum === qpNum;
      }
      if (reason !== 'no_answer' || other.place !== 'arrival') return false;
      return other.reason === 'drop_unknown_qp'
        ? Number(other.values['number']) === peerQpNum
        : other.qpNum === peerQpNum;
    };
    const found = this.#refusals.findLast(concerns);
    if (found?.reason !== FAILED) return found;
    return this.#refusals.findLast(({ place, qpNum: own }) => place === 'responder' && own === peerQpNum) ?? found;
  }

  /** By reason: causes before their consequences, each the most frequent first. `exact` is false where a program had more than it reported. */
  counts(): { reason: string; text: string; count: bigint; exact: boolean }[] {
    const sums = new Map<string, { reason: string; text: string; count: bigint; exact: boolean }>();
    for (const { reason, text, count } of this.#newest.values()) {
      const sum = sums.get(reason) ?? { reason, text, count: 0n, exact: true };
      sums.set(reason, { reason, text, count: sum.count + count, exact: sum.exact && count < EXACT });
    }
    const rank = ({ reason }: { reason: string }) => Number(CONSEQUENCES.has(reason));
    return [...sums.values()].sort((a, b) => rank(a) - rank(b) || Number(b.count - a.count));
  }
}
