import type { Measurement } from '../run/measurement.js';

/** A program whose two ends meet at a TCP port of 127.0.0.1. */
export interface Pair {
  /** Its Debian package. */
  package: string;
  server: (port: number) => readonly string[];
  client: (port: number) => readonly string[];
  environment?: Readonly<Record<string, string>>;
  /** It runs on the software NIC. */
  verbs?: boolean;
  /** What the client's output says; undefined if it says nothing. */
  read: (output: string) => Measurement | undefined;
}

/** The numbers of the last line that has at least that many, and nothing else. */
export function lastRow(output: string, columns: number): number[] | undefined {
  for (const line of output.trimEnd().split('\n').reverse()) {
    const row = line.trim().split(/\s+/).map(Number);
    if (row.length >= columns && row.every(Number.isFinite)) return row;
  }
  return undefined;
}
