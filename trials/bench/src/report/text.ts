import type { ComparisonResult, TargetResult } from '../run/rounds.js';
import { figure } from './format.js';

/** A comparison for people. */
export function describe({ name, unit, contenders }: ComparisonResult): string {
  const width = Math.max(...contenders.map((contender) => contender.name.length));
  const columns = ['median', 'near', 'far', 'ratio'].map((title) => title.padStart(12)).join('');
  const rows = contenders.map(({ name: contender, skipped, median, near = NaN, far = NaN, ratio }) => {
    if (skipped !== undefined) return `  ${contender.padEnd(width)}  ${skipped}`;
    const figures = [median, near, far, ratio].map((value) => figure(value).padStart(12)).join('');
    return `  ${contender.padEnd(width)}${figures}`;
  });
  return [`${name}, ${unit}`, `  ${''.padEnd(width)}${columns}`, ...rows].join('\n');
}

/** The target's figure, its limit and the outcome, each a cell of the table. */
export function verdict(target: TargetResult, better: ComparisonResult['better']): [string, string, string] {
  const { value, limit, reached, reason } = target;
  const bound = `${better === 'small' ? 'at most' : 'at least'} ${figure(limit)}`;
  if (value === undefined) return ['-', bound, reason ?? 'not measured'];
  return [figure(value), bound, reached === true ? 'reached' : 'missed'];
}

/** All targets as one table. */
export function describeTargets(results: readonly ComparisonResult[]): string {
  const rows = results.flatMap(({ targets, better }) =>
    targets.map((target): [string, ...string[]] => [target.title, ...verdict(target, better)]),
  );
  if (rows.length === 0) return 'no targets';
  const table: [string, ...string[]][] = [['target', 'figure', 'limit', ''], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  return table
    .map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
