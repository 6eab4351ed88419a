/** Something that the software NIC dropped, failed or refused, and why. */
export interface ReasonReport {
  /** When, as `Date.prototype.toISOString` writes it, with microseconds; of what repeats itself the last time. */
  time: string;
  /** The process. */
  pid: number;
  /** The name of the device. */
  device: string;
  /**
   * 'arrival': a packet that came was dropped. 'departure': one that was to leave. 'responder': a request of the peer was
   * refused. 'completion': a request of this side failed. 'call': a call was refused.
   */
  place: 'arrival' | 'departure' | 'responder' | 'completion' | 'call';
  /** The name of the reason, for programs: 'drop_qkey'. */
  reason: string;
  /** The number of the reason. */
  number: number;
  /** How often the device had this reason until then. */
  count: bigint;
  /** A sentence for people, with the values that mattered. */
  text: string;
  /** What would help. */
  help: string;
  /** Those values as text, by their names in the sentence. */
  values: Record<string, string>;
  /** The C function that refused, or 'ibv_poll_cq' for a completion. */
  call?: string;
  /** The error of the call, positive. */
  errno?: number;
  /** The status of the completion, 'REM_ACCESS_ERR'. */
  status?: string;
  /** What the responder answered, 'remote access error'. */
  nak?: string;
  /** The queue pair. */
  qpNum?: number;
  /** The peer's queue pair, of a datagram the sender's. */
  peerQpNum?: number;
  /** The peer's GID. */
  peerGid?: string;
  /** Of the request that failed or was refused. One that is awaited (`qp.send()`, `qp.recv()`) has a number of @verbs/core there. */
  wrId?: bigint;
  /** What the peer's end had against the request, if that is at the same device. */
  peers?: Pick<ReasonReport, 'reason' | 'text' | 'help'>;
}

/** The members that are 64-bit numbers. JSON has them as text. */
const BIGINTS = new Set(['count', 'wrId']);

/** For `JSON.parse`, of a text with such reports in it. */
export function reviveReason(key: string, value: unknown): unknown {
  return BIGINTS.has(key) && typeof value === 'string' ? BigInt(value) : value;
}

/**
 * Reads a line of the file that `VERBS_SOFT_WHY` names: each program of the software NIC with that variable in its
 * environment appends what goes wrong there, as it happens.
 *
 * @throws SyntaxError if it is no such line.
 */
export function readReason(line: string): ReasonReport {
  const report = JSON.parse(line, reviveReason) as ReasonReport | null;
  if (typeof report?.reason !== 'string') throw new SyntaxError('the line is no report of the software NIC');
  return report;
}
