import type { RunResult } from './run.js';

type Column = [title: string, value: (result: RunResult) => string];

const COLUMNS: Column[] = [
  ['', ({ label }) => label],
  ['bytes', ({ bytes }) => String(bytes)],
  ['seconds', ({ seconds }) => seconds.toFixed(3)],
  ['MB/s', ({ megabytesPerSecond }) => megabytesPerSecond.toFixed(1)],
  ['packets', ({ packets }) => String(packets)],
  ['lost', ({ lost }) => String(lost)],
  ['retransmissions', ({ retransmissions }) => String(retransmissions)],
  ['SHA-256', ({ sha256Equal }) => (sha256Equal ? 'equal' : 'DIFFERENT')],
];

/** A row for each run. */
export function table(results: RunResult[]): string {
  const rows = [COLUMNS.map(([title]) => title), ...results.map((result) => COLUMNS.map(([, value]) => value(result)))];
  const widths = COLUMNS.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  const line = (row: string[]) =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  ');
  return rows.map(line).join('\n');
}
