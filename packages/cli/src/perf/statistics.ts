/** Of the times of a latency measurement, in microseconds: perftest's columns. */
export interface Latency {
  min: number;
  max: number;
  /** The median: perftest's t_typical. */
  typical: number;
  avg: number;
  /** Of the sample: divided by n - 1. */
  stdev: number;
  p99: number;
  p999: number;
}

export function latency(times: Float64Array): Latency {
  const sorted = times.toSorted();
  const n = sorted.length;
  if (n === 0) throw new RangeError('no times');
  let sum = 0;
  for (const time of sorted) sum += time;
  const avg = sum / n;
  // In two passes: the squares of large times would swallow small differences.
  let squares = 0;
  for (const time of sorted) squares += (time - avg) ** 2;
  return {
    min: sorted[0] ?? NaN,
    max: sorted[n - 1] ?? NaN,
    typical: ((sorted[(n - 1) >> 1] ?? NaN) + (sorted[n >> 1] ?? NaN)) / 2,
    avg,
    stdev: n === 1 ? 0 : Math.sqrt(squares / (n - 1)),
    p99: percentile(sorted, 0.99),
    p999: percentile(sorted, 0.999),
  };
}

/** The smallest time that at least this share of all times does not exceed. */
function percentile(sorted: Float64Array, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? NaN;
}

/** How many times lie in a range of microseconds, `from` included and `to` not. */
export interface Bucket {
  from: number;
  to: number;
  count: number;
}

/** Ranges that grow by the root of two: even on a logarithmic scale. Without the empty ones at either end. */
export function histogram(times: Float64Array): Bucket[] {
  const STEPS = 2;
  const counts = new Map<number, number>();
  for (const time of times) {
    const step = Math.floor(Math.log2(Math.max(time, 1e-3)) * STEPS);
    counts.set(step, (counts.get(step) ?? 0) + 1);
  }
  const steps = [...counts.keys()];
  const buckets: Bucket[] = [];
  for (let step = Math.min(...steps); step <= Math.max(...steps); step++) {
    buckets.push({ from: 2 ** (step / STEPS), to: 2 ** ((step + 1) / STEPS), count: counts.get(step) ?? 0 });
  }
  return buckets;
}

/** The number of completed messages over time, from which a bandwidth is computed. */
export class Progress {
  readonly #times: Float64Array;
  readonly #counts: Float64Array;
  #length = 0;

  /** @param capacity how often `add` is called at most */
  constructor(capacity: number) {
    this.#times = new Float64Array(capacity);
    this.#counts = new Float64Array(capacity);
  }

  /** @param count messages that are done by now, of all */
  add(milliseconds: number, count: number): void {
    this.#times[this.#length] = milliseconds;
    this.#counts[this.#length++] = count;
  }

  /** Messages in a second: of all, and of the fastest stretch of at least `stretch` messages. */
  rates(stretch: number): { average: number; peak: number } {
    const last = this.#length - 1;
    const average = this.#rate(0, last);
    let peak = average;
    let from = 0;
    for (let to = 1; to <= last; to++) {
      while (this.#count(to) - this.#count(from + 1) >= stretch) from++;
      if (this.#count(to) - this.#count(from) >= stretch) peak = Math.max(peak, this.#rate(from, to));
    }
    return { average, peak };
  }

  #count(at: number): number {
    return this.#counts[at] ?? NaN;
  }

  #rate(from: number, to: number): number {
    const milliseconds = (this.#times[to] ?? NaN) - (this.#times[from] ?? NaN);
    return (1000 * (this.#count(to) - this.#count(from))) / milliseconds;
  }
}
