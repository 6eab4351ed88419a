/** @import { Entry } from './log.mjs' */
/** @import { Sums } from './sums.mjs' */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { readLog, summaryPath } from './log.mjs';
import { add } from './sums.mjs';

/**
 * Sums, and the runs in them: those whose identifications are committed, and the others of this machine.
 * @typedef {{ recorded: string[], sums: Sums, entries: Entry[] }} Everything
 */

/** The committed sums, and the runs of this machine that are not in them. @returns {Everything} */
export function everything() {
  /** @type {{ recorded: string[], sums: Sums }} */
  const { recorded, sums } = existsSync(summaryPath)
    ? JSON.parse(readFileSync(summaryPath, 'utf8'))
    : { recorded: [], sums: {} };
  const known = new Set(recorded);
  const entries = readLog().filter(({ id }) => !known.has(id));
  return { recorded, sums: add(sums, entries), entries };
}

/** Makes these sums the committed ones. @param {Everything} all */
export function writeSummary({ recorded, sums, entries }) {
  const ids = [...recorded, ...entries.map(({ id }) => id)];
  writeFileSync(summaryPath, `${JSON.stringify({ recorded: ids, sums }, undefined, 2)}\n`);
}
