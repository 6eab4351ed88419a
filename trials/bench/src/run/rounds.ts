import type { Comparison, Contender, Placement, Plot, Target } from '../comparison.js';
import { median } from '../statistics.js';
import { between } from './placement.js';
import type { Measurement } from './measurement.js';
import { Skipped } from './skipped.js';

/** One measurement of a contender. */
interface Cell {
  value: number;
  placement: Placement;
}

export interface Percentiles {
  p50: number;
  p99: number;
  p999: number;
}

export interface ContenderResult {
  name: string;
  /** Why it was not measured. Then it has no figures. */
  skipped?: string;
  /** It is ours, and failed: `skipped` says how. */
  failed?: true;
  /** The figure of each round, and how the processors were placed then. */
  values: number[];
  placements: Placement[];
  best: number;
  median: number;
  /** The median of the rounds with near processors, and of those with far ones. */
  near?: number;
  far?: number;
  /** The median over the rounds of this figure divided by the first contender's of the same round. */
  ratio: number;
  /** Of round trips, in the comparison's unit. */
  percentiles?: Percentiles;
  x?: number;
}

export interface TargetResult extends Target {
  /** Undefined if something that it needs was not measured. */
  value?: number;
  reached?: boolean;
  /** Why it has no value. */
  reason?: string;
}

export interface ComparisonResult {
  name: string;
  unit: string;
  better: Comparison['better'];
  plot?: Plot;
  contenders: ContenderResult[];
  targets: TargetResult[];
}

export type Run = (contender: Contender) => Promise<Measurement>;

/**
 * A comparison while it is measured. Each round runs all contenders, and a ratio is taken within a round: the processors
 * of a virtual machine move closer together and apart every few seconds, and figures of different minutes do not compare.
 */
export class Race {
  readonly comparison: Comparison;
  readonly #columns: Column[];

  constructor(comparison: Comparison) {
    this.comparison = comparison;
    this.#columns = comparison.contenders.map((contender) => ({ contender, cells: [], percentiles: [] }));
  }

  /** A contender that was skipped once, or failed, is not tried again: the others are measured all the same. */
  async round(run: Run, probe: () => Promise<Placement>): Promise<void> {
    let shared: Measurement | undefined;
    let before = await probe();
    for (const column of this.#columns) {
      if (column.skipped !== undefined) continue;
      const { contender } = column;
      try {
        const measurement: Measurement =
          contender.figure === undefined ? await run(contender) : (shared ??= await run(contender));
        const after = await probe();
        const value = this.comparison.valueOf(measurement, contender);
        column.cells.push({ value, placement: between(before, after) });
        const percentiles = percentilesOf(measurement, value);
        if (percentiles !== undefined) column.percentiles.push(percentiles);
        before = after;
      } catch (error) {
        column.failed = !(error instanceof Skipped);
        const { message } = error as Error;
        // The whole message, a program's output for instance, was printed when it failed.
        column.skipped = column.failed ? `failed: ${message.split('\n', 1)[0] ?? ''}` : message;
        column.cells = [];
      }
    }
  }

  result(): ComparisonResult {
    const { name, unit, better, plot, targets } = this.comparison;
    const reference = this.#columns[0]?.cells ?? [];
    return {
      name,
      unit,
      better,
      ...(plot && { plot }),
      contenders: this.#columns.map((column) => summarize(column, better, reference)),
      targets: targets.map((target) => this.#judge(target)),
    };
  }

  #judge(target: Target): TargetResult {
    const find = (name: string) => {
      const column = this.#columns.find(({ contender }) => contender.name === name);
      if (column === undefined) throw new Error(`there is no contender ${name}`);
      return column;
    };
    const column = find(target.contender);
    const rivals = (target.against ?? [this.comparison.contenders[0].name]).map(find);
    const missing = [column, ...(target.of === 'ratio' ? rivals : [])].filter(({ skipped }) => skipped !== undefined);
    if (missing.length !== 0) {
      return { ...target, reason: `not measured: ${missing.map(({ contender }) => contender.name).join(', ')}` };
    }
    const { better } = this.comparison;
    const figures = column.cells.map(({ value, placement }, round): Cell => {
      if (target.of === 'value') return { value, placement };
      const theirs = rivals.map(({ cells }) => cells[round]).filter((cell) => cell !== undefined);
      const best = bestOf(theirs, better);
      return {
        value: value / (best?.value ?? NaN),
        placement: best === undefined ? 'mixed' : between(placement, best.placement),
      };
    });
    const counted = figures.filter(({ placement }) => target.placement === undefined || placement === target.placement);
    if (counted.length === 0) return { ...target, reason: `no round had ${target.placement ?? 'any'} processors` };
    const value = median(counted.map((figure) => figure.value));
    return { ...target, value, reached: better === 'small' ? value <= target.limit : value >= target.limit };
  }
}

/** `rounds` rounds of one comparison. */
export async function compare(
  comparison: Comparison,
  rounds: number,
  run: Run,
  probe: () => Promise<Placement> = () => Promise.resolve('far'),
): Promise<ComparisonResult> {
  const race = new Race(comparison);
  for (let round = 0; round < rounds; round++) await race.round(run, probe);
  return race.result();
}

interface Column {
  contender: Contender;
  cells: Cell[];
  percentiles: Percentiles[];
  skipped?: string;
  failed?: boolean;
}

function bestOf(cells: readonly Cell[], better: Comparison['better']): Cell | undefined {
  return cells.toSorted((a, b) => (better === 'small' ? a.value - b.value : b.value - a.value))[0];
}

/** Scaled as the figure is, which is the median. */
function percentilesOf({ median: middle, p99, p999 }: Measurement, value: number): Percentiles | undefined {
  if (typeof middle !== 'number' || typeof p99 !== 'number' || typeof p999 !== 'number') return undefined;
  return { p50: value, p99: (p99 / middle) * value, p999: (p999 / middle) * value };
}

function summarize(column: Column, better: Comparison['better'], reference: readonly Cell[]): ContenderResult {
  const { contender, cells, percentiles, skipped, failed } = column;
  const place = contender.x === undefined ? {} : { x: contender.x };
  const { name } = contender;
  if (skipped !== undefined || cells.length === 0) {
    const none = { values: [], placements: [], best: NaN, median: NaN, ratio: NaN };
    return { name, skipped: skipped ?? 'not measured', ...(failed === true && { failed }), ...none, ...place };
  }
  const values = cells.map(({ value }) => value);
  const at = (wanted: Placement) => {
    const some = cells.filter(({ placement }) => placement === wanted).map(({ value }) => value);
    return some.length === 0 ? {} : { [wanted]: median(some) };
  };
  return {
    name,
    values,
    placements: cells.map(({ placement }) => placement),
    best: better === 'small' ? Math.min(...values) : Math.max(...values),
    median: median(values),
    ...at('near'),
    ...at('far'),
    ratio:
      reference.length === 0 ? NaN : median(values.map((value, round) => value / (reference[round]?.value ?? NaN))),
    ...(percentiles.length !== 0 && {
      percentiles: {
        p50: median(percentiles.map(({ p50 }) => p50)),
        p99: median(percentiles.map(({ p99 }) => p99)),
        p999: median(percentiles.map(({ p999 }) => p999)),
      },
    }),
    ...place,
  };
}
