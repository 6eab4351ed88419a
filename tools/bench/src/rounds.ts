import type { Comparison } from './comparisons.js';
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
  target: Comparison['target'] & { value: number; reached: boolean };
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
  return { name: comparison.name, unit: comparison.unit, contenders, target: judge(comparison, contenders) };
}

function summarize(name: string, better: Comparison['better'], table: number[][], column: number): ContenderResult {
  const values = table.map((row) => row[column] ?? NaN);
  return {
    name,
    values,
    best: better === 'small' ? Math.min(...values) : Math.max(...values),
    median: median(values),
    ratio: median(table.map((row) => (row[column] ?? NaN) / (row[0] ?? NaN))),
  };
}

function judge({ target, better }: Comparison, contenders: ContenderResult[]): ComparisonResult['target'] {
  const contender = contenders.find(({ name }) => name === target.contender);
  if (contender === undefined) throw new Error(`there is no contender ${target.contender}`);
  const value = target.of === 'ratio' ? contender.ratio : contender.median;
  return { ...target, value, reached: better === 'small' ? value <= target.limit : value >= target.limit };
}
