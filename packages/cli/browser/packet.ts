import type { PageData, PageRow } from '../src/show/page-row.js';

/** A row of the page with its names. */
export interface LadderPacket {
  number: number;
  pair: number;
  from: 0 | 1;
  sent: number | undefined;
  received: number | undefined;
  name: string;
  role: string;
  psn: number;
  payload: number;
  length: number;
  marks: PageRow[9];
  notes: PageRow[10];
  bytes: string;
  link: 'ip' | 'ethernet';
  at: number;
  /** All packets of a burst that is drawn as one arrow; this is the first, with the arrival of the last. */
  folded?: readonly LadderPacket[];
}

export function packetsOf({ rows, operations }: PageData): LadderPacket[] {
  return rows.map(
    ([number, pair, from, sent, received, operation, psn, payload, length, marks, notes, bytes, ethernet, at]) => {
      const [name, role] = operations[operation] ?? ['', 'other'];
      return {
        ...{ number, pair, from, name, role, psn, payload, length, marks, notes, bytes, at },
        sent: sent ?? undefined,
        received: received ?? undefined,
        link: ethernet === 1 ? 'ethernet' : 'ip',
      };
    },
  );
}

/** Whether it never reached its receiver. */
export function isGone({ marks }: LadderPacket): boolean {
  return marks.includes('lost') || marks.includes('missing');
}

export function hex(value: number): string {
  return `0x${value.toString(16)}`;
}

/** Nanoseconds as a time with its unit, with no more digits than one reads. */
export function timeText(nanoseconds: number): string {
  if (nanoseconds < 1e3) return `${nanoseconds.toFixed(0)} ns`;
  if (nanoseconds < 1e6) return `${(nanoseconds / 1e3).toFixed(1)} µs`;
  if (nanoseconds < 1e9) return `${(nanoseconds / 1e6).toFixed(3)} ms`;
  return `${(nanoseconds / 1e9).toFixed(3)} s`;
}
