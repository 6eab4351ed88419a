/**
 * The line through samples of equal distance, by least squares: its rise from the first sample to the last, and the mean.
 * @param {number[]} values
 */
export function trend(values) {
  const count = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / Math.max(1, count);
  if (count < 2) return { mean, rise: 0 };
  const middle = (count - 1) / 2;
  const slope =
    values.reduce((sum, value, at) => sum + (at - middle) * (value - mean), 0) /
    values.reduce((sum, _, at) => sum + (at - middle) ** 2, 0);
  return { mean, rise: slope * (count - 1) };
}

/** How much each series may rise after the warm-up: a share of its mean, and an amount below which nothing is said. */
const bounds = {
  rss: { unit: 'bytes', share: 0.1, amount: 16 << 20 },
  heap: { unit: 'bytes', share: 0.1, amount: 4 << 20 },
  descriptors: { unit: '', share: 0, amount: 0.5 },
  p99: { unit: 'us', share: 0.5, amount: 20_000 },
};

/**
 * What rises too much; empty if all is flat. The first fifth of the samples is the warm-up.
 * @param {Record<string, Record<string, number[]>>} processes the series of each process, by their names
 */
export function rising(processes) {
  return Object.entries(processes).flatMap(([name, series]) =>
    Object.entries(bounds).flatMap(([what, { unit, share, amount }]) => {
      const all = series[what] ?? [];
      const { mean, rise } = trend(all.slice(Math.ceil(all.length / 5)));
      if (rise <= Math.max(amount, share * mean)) return [];
      return [`${name}: ${what} rises by ${rise.toFixed(1)} ${unit} around ${mean.toFixed(0)}`];
    }),
  );
}
