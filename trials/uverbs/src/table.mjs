/** @import { Result } from './scenario-run.mjs' */

/**
 * The results as a table: a row a scenario, a column for each driver and interface.
 * @param {Result[]} results
 * @returns {string}
 */
export function tableOf(results) {
  const columns = [...new Set(results.map((result) => `${result.driver} ${result.interface}`))];
  const names = [...new Set(results.map(({ scenario }) => scenario))];
  const width = Math.max(...names.map((name) => name.length));
  const rows = names.map((name) => {
    const cells = columns.map((column) => {
      const result = results.find((one) => one.scenario === name && `${one.driver} ${one.interface}` === column);
      return cell(result).padEnd(column.length);
    });
    return `${name.padEnd(width)}  ${cells.join('  ')}`.trimEnd();
  });
  return [`${'scenario'.padEnd(width)}  ${columns.join('  ')}`, ...rows].join('\n');
}

/** @param {Result | undefined} result */
function cell(result) {
  if (result === undefined) return '';
  if (result.verdict === 'same') return String(result.calls);
  return result.verdict === 'skipped' ? '–' : 'DIFFERS';
}

/**
 * One line for all, and the reasons.
 * @param {Result[]} results
 * @returns {string}
 */
export function summaryOf(results) {
  const of = (/** @type {Result['verdict']} */ verdict) => results.filter((result) => result.verdict === verdict);
  const lines = of('same').reduce((sum, { calls }) => sum + calls, 0);
  const skipped = [...new Set(of('skipped').map(({ scenario, reason }) => `  –  ${scenario}: ${reason ?? ''}`))];
  const different = of('different').map(
    (result) => `  DIFFERS  ${result.scenario}, ${result.driver} by ${result.interface}: ${result.reason ?? ''}`,
  );
  const counts = `${of('same').length} the same (${lines} lines), ${different.length} different, ${of('skipped').length} cannot run`;
  return [...skipped, ...different, `uverbs: ${counts}`].join('\n');
}
