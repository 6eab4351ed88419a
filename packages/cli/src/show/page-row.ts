import type { Mark, Pair } from './course.js';

/** A packet as the page holds it; pages of many packets would be several times as long with names. */
export type PageRow = [
  number: number,
  pair: number,
  from: 0 | 1,
  sent: number | null,
  received: number | null,
  name: number,
  psn: number,
  payload: number,
  length: number,
  marks: readonly Mark[],
  notes: readonly string[],
  /** The first bytes in base64. */
  bytes: string,
  /** Whether an Ethernet header comes first, and where the BTH begins. */
  ethernet: 0 | 1,
  at: number,
];

export interface PageData {
  file: string;
  /** When the first packet was captured, as Date.prototype.toISOString writes it. */
  start: string;
  duration: number;
  pairs: readonly Pair[];
  /** The names and roles of operations, which rows name by index. */
  operations: readonly (readonly [name: string, role: string])[];
  rows: readonly PageRow[];
  others: number;
  /** Packets behind the last row that the page does not hold. */
  left: number;
}
