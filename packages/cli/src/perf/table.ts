import type { Kind } from './plan.js';
import type { Bucket, Latency } from './statistics.js';

export interface LatencyResult extends Latency {
  bytes: number;
  iterations: number;
  histogram: Bucket[];
}

/** MiB/s and millions of messages a second. */
export interface BandwidthResult {
  bytes: number;
  iterations: number;
  peak: number;
  average: number;
  messageRate: number;
  /** SENDs that arrived at the other end; UC and UD may lose some. */
  received: number | undefined;
}

const LATENCY: [title: string, width: number][] = [
  ['#bytes', 8],
  ['#iterations', 12],
  ['t_min[usec]', 12],
  ['t_max[usec]', 12],
  ['t_typical[usec]', 16],
  ['t_avg[usec]', 12],
  ['t_stdev[usec]', 14],
  ['99%[usec]', 11],
  ['99.9%[usec]', 12],
];
const BANDWIDTH: [title: string, width: number][] = [
  ['#bytes', 8],
  ['#iterations', 12],
  ['BW peak[MB/sec]', 17],
  ['BW average[MB/sec]', 20],
  ['MsgRate[Mpps]', 15],
];

/** The columns of perftest. A MB is 2^20 bytes there. */
export function header(kind: Kind): string {
  return line(
    kind === 'lat' ? LATENCY : BANDWIDTH,
    (kind === 'lat' ? LATENCY : BANDWIDTH).map(([title]) => title),
  );
}

export function latencyLine(result: LatencyResult): string {
  const { bytes, iterations, min, max, typical, avg, stdev, p99, p999 } = result;
  return line(LATENCY, [
    bytes,
    iterations,
    ...[min, max, typical, avg, stdev, p99, p999].map((usec) => usec.toFixed(2)),
  ]);
}

export function bandwidthLine({ bytes, iterations, peak, average, messageRate }: BandwidthResult): string {
  return line(BANDWIDTH, [bytes, iterations, peak.toFixed(2), average.toFixed(2), messageRate.toFixed(6)]);
}

const BAR = 50;

/** A bar for each range of times. */
export function histogramText(buckets: readonly Bucket[]): string {
  const most = Math.max(...buckets.map(({ count }) => count));
  const rows = buckets.map(({ from, to, count }) => {
    const range = `${from.toFixed(2).padStart(10)} … ${to.toFixed(2).padStart(10)} usec`;
    const bar = '#'.repeat(Math.ceil((BAR * count) / most));
    return `${range} ${String(count).padStart(9)} ${bar}`.trimEnd();
  });
  return rows.join('\n');
}

function line(columns: readonly [string, number][], values: readonly (string | number)[]): string {
  return columns.map(([, width], i) => String(values[i] ?? '').padStart(width)).join('');
}
