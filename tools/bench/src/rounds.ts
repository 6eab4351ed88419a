import type { Comparison, Target } from './comparisons.js';
import type { Measurement } from './program.js';
import { median } from './statistics.js';

export interface ContenderResult {
  name: string;
  /** The figure of each round. */
  values: number[];
  best: number;
  median: number;
  /** The median over the rounds of this figure divided by the first contender's of the same round. */
  ratio: number;
}

export interface ComparisonResult {
  name: string;
  unit: string;
  contenders: ContenderResult[];
  targets: (Target & { value: number; reached: boolean })[];
}

/**
 * Runs the contenders in turn, `rounds` times. Their ratio is taken within each round: the processors of a virtual
 * machine move closer together and apart every few seconds, and figures of different minutes do not compare.
 */
export async function compare(
  comparison: Comparison,
  rounds: number,
  run: (contender: Comparison['contenders'][number]) => Promise<Measurement>,
  onRound: (round: number) => void = () => undefined,
): Promise<ComparisonResult> {
  const table: number[][] = [];
  for (let round = 1; round <= rounds; ++round) {
    onRound(round);
    const row: number[] = [];
    for (const contender of comparison.contenders) row.push(comparison.valueOf(await run(contender)));
    table.push(row);
  }
  const contenders = comparison.contenders.map(({ name }, column) => summarize(name, comparison.better, table, column));
  const targets = comparison.targets.map((target) => judge(target, comparison, contenders, table));
  return { name: comparison.name, unit: comparison.unit, contenders, targets };
}

/** The median of the ratios of two columns, each taken within a row. */
function ratioOf(table: number[][], column: number, other: number): number {
  return median(table.map((row) => (row[column] ?? NaN) / (row[other] ?? NaN)));
}

function summarize(name: string, better: Comparison['better'], table: number[][], column: number): ContenderResult {
  const values = table.map((row) => row[column] ?? NaN);
  return {
    name,
    values,
    best: better === 'small' ? Math.min(...values) : Math.max(...values),
    median: median(values),
    ratio: ratioOf(table, column, 0),
  };
}

function judge(
  target: Target,
  { better }: Comparison,
  contenders: ContenderResult[],
  table: number[][],
): ComparisonResult['targets'][number] {
  const columnOf = (name: string) => {
    const column = contenders.findIndex((contender) => contender.name === name);
    if (column < 0) throw new Error(`there is no contender ${name}`);
    return column;
  };
  const column = columnOf(target.contender);
  const other = target.to === undefined ? 0 : columnOf(target.to);
  const value = target.of === 'ratio' ? ratioOf(table, column, other) : (contenders[column]?.median ?? NaN);
  return { ...target, value, reached: better === 'small' ? value <= target.limit : value >= target.limit };
}
