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

/**
 * How much each series may rise after the warm-up: a share of its mean, and an amount below which nothing is said. Times
 * may rise as much as those of the control as well: then the machine has become busier.
 */
const bounds = {
  rss: { unit: 'bytes', share: 0.1, amount: 16 << 20, time: false },
  heap: { unit: 'bytes', share: 0.1, amount: 4 << 20, time: false },
  malloc: { unit: 'bytes', share: 0.1, amount: 8 << 20, time: false },
  descriptors: { unit: '', share: 0, amount: 0.5, time: false },
  p50: { unit: 'us', share: 0.5, amount: 5000, time: true },
  p99: { unit: 'us', share: 0.5, amount: 20_000, time: true },
};

/** The first fifth of the samples is the warm-up. @param {number[]} samples */
const warm = (samples) => samples.slice(Math.ceil(samples.length / 5));

/**
 * Every series with its mean, its rise and what it may rise by.
 * @param {Record<string, Record<string, number[]>>} processes the series of each process, by their names
 * @param {number[]} [machine] the p99 of the control
 */
export function judgements(processes, machine = []) {
  const control = trend(warm(machine));
  const slower = control.mean === 0 ? 0 : Math.max(0, control.rise / control.mean);
  return Object.entries(processes).flatMap(([name, series]) =>
    Object.entries(bounds).map(([what, { unit, share, amount, time }]) => {
      const { mean, rise } = trend(warm(series[what] ?? []));
      const allowed = Math.max(amount, (share + (time ? slower : 0)) * mean);
      return { name, what, unit, mean, rise, allowed };
    }),
  );
}

/**
 * What rises too much; empty if all is flat.
 * @param {Record<string, Record<string, number[]>>} processes
 * @param {number[]} [machine]
 */
export function rising(processes, machine) {
  return judgements(processes, machine)
    .filter(({ rise, allowed }) => rise > allowed)
    .map(
      ({ name, what, unit, mean, rise, allowed }) =>
        `${name}: ${what} rises by ${rise.toFixed(1)} ${unit} around ${mean.toFixed(0)}; ${allowed.toFixed(1)} is allowed`,
    );
}
