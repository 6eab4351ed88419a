import { type Course, type Packet, packetCount } from './course.js';
import type { PageData, PageRow } from './page-row.js';

/** A browser draws what is on the screen only, but has to hold all. */
const MOST_ROWS = 100_000;
/** The headers behind the BTH, and a piece of the data. */
const BEHIND_BTH = 64;

/** What a page needs of a course. */
export function pageData(course: Course): PageData {
  const { file, start, duration, pairs, others } = course;
  const operations: [string, string][] = [];
  const indices = new Map<string, number>();
  const rowOf = (packet: Packet): PageRow => {
    const { number, pair, from, sent, received, name, role, psn, payload, length, marks, notes, bytes, link, at } =
      packet;
    let index = indices.get(name);
    if (index === undefined) indices.set(name, (index = operations.push([name, role]) - 1));
    const kept = bytes === undefined ? '' : Buffer.from(bytes.subarray(0, at + BEHIND_BTH)).toString('base64');
    return [
      ...([number, pair, from, sent ?? null, received ?? null, index, psn, payload, length, marks, notes] as const),
      ...([kept, link === 'ethernet' ? 1 : 0, at] as const),
    ];
  };
  const rows: PageRow[] = [];
  for (const packet of course.packets()) {
    if (rows.push(rowOf(packet)) === MOST_ROWS) break;
  }
  const left = packetCount(course) - rows.length;
  return { file, start: dateOf(start), duration, pairs, operations, rows, others, left };
}

function dateOf(nanoseconds: bigint): string {
  const milliseconds = Number(nanoseconds / 1_000_000n);
  // A damaged file may name any time, which JavaScript may have no date for.
  return Math.abs(milliseconds) <= 8.64e15 ? new Date(milliseconds).toISOString() : '';
}
