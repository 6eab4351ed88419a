import type { Contender } from '../comparison.js';
import { lastRow, type Pair } from './pair.js';

const MEGA = 1e6;

function pair(program: string, options: readonly string[], read: Pair['read']): Pick<Contender, 'program' | 'pair'> {
  const args = (port: number) => ['-F', '-x', '0', '-p', String(port), ...options];
  return {
    program,
    pair: {
      package: 'perftest',
      server: args,
      client: (port) => [...args(port), '127.0.0.1'],
      verbs: true,
      read,
    },
  };
}

/** `ib_send_lat` and its like: half of a round trip is what they print. */
export function perftestLatency(name: string, size: number, count: number, configuration: string): Contender {
  const options = ['-s', String(size), '-n', String(Math.max(count, 100))];
  const read = (output: string) => {
    // #bytes #iterations t_min t_max t_typical t_avg t_stdev 99% 99.9%
    const [, , min = NaN, , typical = NaN, , , p99 = NaN, p999 = NaN] = lastRow(output, 9) ?? [];
    const roundTrip = (us: number) => us * 2000;
    if (!Number.isFinite(typical)) return undefined;
    return {
      unit: 'ns',
      min: roundTrip(min),
      median: roundTrip(typical),
      p99: roundTrip(p99),
      p999: roundTrip(p999),
    };
  };
  return { name, args: [], configuration, ...pair('ib_send_lat', options, read) };
}

/** `ib_write_bw` and its like. Their MB are 2^20 bytes, so the figures come from the message rate. */
export function perftestBandwidth(
  program: string,
  name: string,
  size: number,
  count: number,
  configuration: string,
): Contender {
  const options = ['-s', String(size), '-n', String(Math.max(count, 100))];
  const read = (output: string) => {
    const [, , , average, millions] = lastRow(output, 5) ?? [];
    if (millions === undefined || average === undefined) return undefined;
    return { unit: 'MB/s', messages: millions * MEGA, rate: (average * 2 ** 20) / MEGA };
  };
  return { name, args: [], configuration, ...pair(program, options, read) };
}
