import { writeFileSync } from 'node:fs';
import { type JournalFields, journalSection } from '@verbs/lib/capture-files';
import { readReason, type ReasonReport } from '@verbs/soft';

/** Reasons that a capture keeps: of what repeats itself there are few, and a program may run for days. */
const MOST = 10_000;
const REPORT = 'VERBS_REASON';

/** What the software NIC of the programs of a run dropped, failed and refused, as a part of their capture. */
export class ReasonsPart {
  readonly #entries: JournalFields[] = [];

  add(reason: ReasonReport): void {
    if (this.#entries.length === MOST) return;
    this.#entries.push({
      MESSAGE: `${reason.device} of process ${reason.pid}: ${reason.text}`,
      SYSLOG_IDENTIFIER: 'verbs',
      __REALTIME_TIMESTAMP: String(nanosecondsOf(reason.time) / 1000n),
      _PID: String(reason.pid),
      [REPORT]: JSON.stringify(reason, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
    });
  }

  /** Writes them as a section of pcapng. False, and no file, without any. */
  write(path: string): boolean {
    if (this.#entries.length === 0) return false;
    writeFileSync(path, journalSection(this.#entries));
    return true;
  }
}

/** The reason of an entry; undefined for one of another program, or that is damaged. */
export function reasonOf(fields: JournalFields): ReasonReport | undefined {
  const text = fields[REPORT];
  if (text === undefined) return undefined;
  try {
    const reason = readReason(text);
    return typeof reason.text === 'string' && nanosecondsOf(reason.time) > 0n ? reason : undefined;
  } catch {
    return undefined;
  }
}

/** Nanoseconds since 1970 of a report's time, which has microseconds; 0 for what is none. */
export function nanosecondsOf(time: string): bigint {
  const [, fraction = ''] = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.(\d{6})Z$/.exec(time) ?? [];
  const milliseconds = Date.parse(time);
  if (fraction === '' || Number.isNaN(milliseconds)) return 0n;
  return BigInt(milliseconds - (milliseconds % 1000)) * 1_000_000n + BigInt(fraction) * 1000n;
}
