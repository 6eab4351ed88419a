import type { Comparison, Contender, Extent } from '../comparison.js';
import { figureOf } from '../run/measurement.js';
import { UDP } from './devices.js';

const PERCENT = [0, 0.1, 1, 2, 5];
const QUICK = [0, 1, 5];

/** A stream over UDP of which frames are lost, in both directions. */
export function lossComparison({ scale, quick }: Extent): Comparison {
  const count = String(Math.max(32, Math.round(512 * scale)));
  const contender = (percent: number): Contender => ({
    name: `${percent} % lost`,
    program: 'rc_stream',
    configuration: percent === 0 ? UDP : `${UDP},drop=${percent / 100},seed=7`,
    args: ['-s', '1048576', '-n', count, '-w', '16'],
    x: percent,
  });
  const [first = 0, ...others] = quick ? QUICK : PERCENT;
  return {
    name: 'stream of RDMA WRITEs of 1 MiB over UDP, MTU 4096, some frames of which are lost',
    unit: 'MB/s',
    valueOf: (measurement) => figureOf(measurement, 'rate'),
    better: 'large',
    contenders: [contender(first), ...others.map(contender)],
    targets: [
      {
        title: 'WRITE stream over UDP with 1 % loss against the lossless one',
        contender: '1 % lost',
        of: 'ratio',
        limit: 0.5,
      },
    ],
    plot: { title: 'WRITE stream over UDP by loss', axis: '% of the frames' },
  };
}
