/** @import { Entry } from './log.mjs' */
/** @import { Sums } from './sums.mjs' */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { readLog, since, summaryPath } from './log.mjs';
import { add } from './sums.mjs';

/** @typedef {{ recorded: string, sums: Sums, entries: Entry[] }} Everything sums with the entries not recorded yet */

/** The committed sums, and the runs of this machine since they were recorded. @returns {Everything} */
export function everything() {
  /** @type {{ recorded: string, sums: Sums }} */
  const { recorded, sums } = existsSync(summaryPath)
    ? JSON.parse(readFileSync(summaryPath, 'utf8'))
    : { recorded: '', sums: {} };
  const entries = readLog().filter((entry) => since(entry) > recorded);
  return { recorded, sums: add(sums, entries), entries };
}

/** Makes these sums the committed ones. @param {Everything} all */
export function writeSummary({ recorded, sums, entries }) {
  const last = [recorded, ...entries.map(since)].sort().at(-1);
  writeFileSync(summaryPath, `${JSON.stringify({ recorded: last, sums }, undefined, 2)}\n`);
}
