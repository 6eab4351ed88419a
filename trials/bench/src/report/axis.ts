/** From values to a length in the plot. */
export interface Axis {
  at: (value: number) => number;
  ticks: readonly number[];
}

/** Logarithmic, from the smallest to the largest value. A value of 0, which has no logarithm, stands at the beginning. */
export function logarithmic(values: readonly number[], from: number, to: number): Axis {
  const positive = values.filter((value) => value > 0);
  const low = Math.log10(Math.min(...positive));
  const high = Math.max(Math.log10(Math.max(...positive)), low + 0.3);
  const zero = values.includes(0);
  // One step of its own for the zero.
  const first = zero ? low - 1 : low;
  const at = (value: number) =>
    from + (((value > 0 ? Math.log10(value) : first) - first) / (high - first)) * (to - from);
  return { at, ticks: [...(zero ? [0] : []), ...ticksBetween(low, high)] };
}

/** Powers of ten, and 2 and 5 times them where there are few. */
function ticksBetween(low: number, high: number): number[] {
  const steps = high - low > 2.5 ? [1] : [1, 2, 5];
  const ticks: number[] = [];
  for (let decade = Math.floor(low); decade <= high; decade++) {
    for (const step of steps) {
      const position = decade + Math.log10(step);
      if (position >= low - 0.05 && position <= high + 0.05) ticks.push(step * 10 ** decade);
    }
  }
  return ticks;
}
