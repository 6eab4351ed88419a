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
 * Alternates the contenders, `rounds` times. Their ratio is taken within each round: the processors of a virtual
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
    let shared: Measurement | undefined;
    for (const contender of comparison.contenders) {
      const measurement: Measurement =
        contender.figure === undefined ? await run(contender) : (shared ??= await run(contender));
      row.push(comparison.valueOf(measurement, contender));
    }
    table.push(row);
  }
  const contenders = comparison.contenders.map(({ name }, column) => summarize(name, comparison.better, table, column));
  const targets = comparison.targets.map((target) => judge(target, comparison, contenders));
  return { name: comparison.name, unit: comparison.unit, contenders, targets };
}

/** The median of the ratios of a column to the first, each taken within a row. */
function ratioOf(table: number[][], column: number): number {
  return median(table.map((row) => (row[column] ?? NaN) / (row[0] ?? NaN)));
}

function summarize(name: string, better: Comparison['better'], table: number[][], column: number): ContenderResult {
  const values = table.map((row) => row[column] ?? NaN);
  return {
    name,
    values,
    best: better === 'small' ? Math.min(...values) : Math.max(...values),
    median: median(values),
    ratio: ratioOf(table, column),
  };
}

function judge(
  target: Target,
  { better }: Comparison,
  contenders: ContenderResult[],
): ComparisonResult['targets'][number] {
  const result = contenders.find(({ name }) => name === target.contender);
  if (result === undefined) throw new Error(`there is no contender ${target.contender}`);
  const value = target.of === 'ratio' ? result.ratio : result.median;
  return { ...target, value, reached: better === 'small' ? value <= target.limit : value >= target.limit };
}
