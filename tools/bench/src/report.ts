import type { ComparisonResult } from './rounds.js';

/** A comparison for people. */
export function describe({ name, unit, contenders, target }: ComparisonResult): string {
  const width = Math.max(...contenders.map((contender) => contender.name.length));
  const columns = ['best', 'median', 'ratio'].map((title) => title.padStart(10)).join('');
  const rows = contenders.map(({ name: contender, best, median, ratio }) => {
    const figures = [figure(best), figure(median), ratio.toFixed(2)].map((text) => text.padStart(10)).join('');
    return `  ${contender.padEnd(width)}${figures}`;
  });
  return [`${name}, ${unit}`, `  ${''.padEnd(width)}${columns}`, ...rows, `  ${verdict(target, unit)}`].join('\n');
}

function verdict(target: ComparisonResult['target'], unit: string): string {
  const what = target.of === 'ratio' ? 'ratio' : 'median';
  const limit = target.of === 'ratio' ? target.limit.toFixed(1) : `${target.limit} ${unit}`;
  return `target for "${target.contender}": ${what} ${limit}, ${target.reached ? 'reached' : 'missed'}`;
}

function figure(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(2);
}
