/** What happened to a packet, beside its plain arrival. */
export type Mark =
  /** Did not arrive although the receiver's capture is there. */
  | 'lost'
  /** Never captured: the next packets skip its PSN. */
  | 'missing'
  | 'damaged'
  /** Its PSN was sent before. */
  | 'retransmission'
  | 'nak'
  | 'rnr'
  /** A response that was sent before. */
  | 'repeated';

/** An end of a conversation. */
export interface End {
  address: string;
  /** Undefined where no packet tells it. */
  qpn: number | undefined;
  /** Requests that it sent. */
  requests: number;
  /**
   * Where its packets show it at the end of the capture: one that sends requests is in RTS, one that responds at least in
   * RTR. A NAK other than for a missing PSN takes both ends to ERR, until one of them answers again: a new connection.
   * Undefined if no packet tells.
   */
  state?: 'RTR' | 'RTS' | 'ERR';
}

/** Two queue pairs that exchange packets. The first end is the one that sent the first request. */
export interface Pair {
  transport: string;
  ends: [End, End];
  /** The tunnel's name; '' without one. */
  tunnel: string;
  packets: number;
  bytes: number;
  marks: Partial<Record<Mark, number>>;
}

/** A packet of the course. */
export interface Packet {
  /** From 1, in the order of time. */
  number: number;
  /** The index of its pair. */
  pair: number;
  /** The index of the end that sent it. */
  from: 0 | 1;
  /** Nanoseconds since the first packet. */
  sent: number | undefined;
  received: number | undefined;
  /** The operation: 'RC SEND Only'. */
  name: string;
  role: string;
  psn: number;
  /** Bytes of data. */
  payload: number;
  /** Bytes on the wire. */
  length: number;
  marks: readonly Mark[];
  /** What it means, in words. */
  notes: readonly string[];
  /** Its first bytes, where they begin, and where the BTH does; not for a missing packet. */
  bytes: Uint8Array | undefined;
  link: 'ip' | 'ethernet';
  at: number;
}

/** The course of all conversations of a capture. */
export interface Course {
  file: string;
  /** Nanoseconds since 1970. */
  start: bigint;
  /** Nanoseconds from the first packet to the last. */
  duration: number;
  pairs: Pair[];
  /** Packets that are no RoCE v2. */
  others: number;
  /** The file ends in the middle of a packet. */
  cutOff: boolean;
  /** The packets in the order of time, those included that were never captured. Each walk reads the capture. */
  packets: (wanted?: Wanted) => Iterable<Packet>;
}

export interface Wanted {
  /** The indices of the pairs. Default: all. */
  pairs?: ReadonlySet<number>;
  /** Without their bytes, millions of packets take a third of the time. Default: with them. */
  bytes?: boolean;
}

/** How many packets a course has, those included that were never captured. */
export function packetCount({ pairs }: Course): number {
  return pairs.reduce((sum, { packets, marks }) => sum + packets + (marks.missing ?? 0), 0);
}
