/** @import { Result } from './harness/run.mjs' */
import { table } from '../../../tools/check/src/reliability/table.mjs';

/** Sums for the log of reliability. @param {Result[]} results */
export function figuresOf(results) {
  const ran = results.filter(({ skipped }) => skipped === undefined);
  return {
    runs: ran.length,
    kills: ran.filter(({ cell }) => cell.disturbance.kind === 'kill').length,
    megabytes: Math.round(ran.reduce((sum, { bytes }) => sum + bytes, 0) / 2 ** 20),
  };
}

/** A line for each disturbance and link, and what the ends saw how often. @param {Result[]} results */
export function report(results) {
  /** @type {Map<string, Result[]>} */
  const groups = new Map();
  for (const result of results) {
    const key = `${result.cell.disturbance.kind} ${result.cell.link}`;
    groups.set(key, [...(groups.get(key) ?? []), result]);
  }
  const lines = [...groups]
    .sort(([one], [two]) => one.localeCompare(two))
    .map(([key, group]) => {
      const [kind = '', link = ''] = key.split(' ');
      const ran = group.filter(({ skipped }) => skipped === undefined);
      const packages = [...new Set(ran.map(({ cell }) => cell.package))].sort().join(' ');
      const reasons = group.flatMap(({ skipped }) => skipped ?? []);
      const what = ran.length > 0 ? often(ran.map(({ outcome }) => outcome)) : `skipped: ${String(reasons[0])}`;
      return [kind, link, packages, ran.length, ran.filter(good).length, what];
    });
  const ran = results.filter(({ skipped }) => skipped === undefined);
  const failed = ran.filter((result) => !good(result));
  const { kills, megabytes } = figuresOf(results);
  const last = `${ran.length} runs, ${failed.length} failed; ${megabytes} MB verified, ${kills} processes killed`;
  return {
    text: `${table(['what', 'link', 'packages', 'runs', 'ok', 'both ends saw'], lines)}\n\n${last}`,
    json: {
      runs: ran.length,
      failed: failed.map(({ cell, seed, problems }) => ({
        cell: `${cell.disturbance.kind}/${cell.link}/${cell.package}`,
        seed,
        problems,
      })),
      rows: lines,
      skipped: [...new Set(results.flatMap(({ skipped }) => skipped ?? []))],
    },
    failed: failed.length,
  };
}

/** @param {Result} result */
const good = ({ problems }) => problems.length === 0;

/** The values with their numbers, most frequent first. @param {string[]} values */
function often(values) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts]
    .sort(([, one], [, two]) => two - one)
    .map(([value, count]) => `${count} ${value}`)
    .join(', ');
}
