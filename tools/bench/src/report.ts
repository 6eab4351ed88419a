import type { ComparisonResult } from './rounds.js';

/** A comparison for people. */
export function describe({ name, unit, contenders, targets }: ComparisonResult): string {
  const width = Math.max(...contenders.map((contender) => contender.name.length));
  const columns = ['best', 'median', 'ratio'].map((title) => title.padStart(10)).join('');
  const rows = contenders.map(({ name: contender, best, median, ratio }) => {
    const figures = [figure(best), figure(median), ratio.toFixed(2)].map((text) => text.padStart(10)).join('');
    return `  ${contender.padEnd(width)}${figures}`;
  });
  const verdicts = targets.map((target) => `  ${verdict(target, unit)}`);
  return [`${name}, ${unit}`, `  ${''.padEnd(width)}${columns}`, ...rows, ...verdicts].join('\n');
}

function verdict({ contender, of, limit, reached }: ComparisonResult['targets'][number], unit: string): string {
  const outcome = reached ? 'reached' : 'missed';
  if (of === 'value') return `target for "${contender}": median ${limit} ${unit}, ${outcome}`;
  return `target for "${contender}": ratio ${limit.toFixed(1)}, ${outcome}`;
}

function figure(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(2);
}
