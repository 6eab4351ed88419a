import type { Comparison, Contender, Extent } from '../comparison.js';
import { figureOf } from '../run/measurement.js';
import { SHM } from './devices.js';

const COUNTS = [1, 10, 100, 1000, 10_000];
const QUICK = [1, 10_000];
const KIB = 1024;

/** A ping-pong beside idle connections of the same two processes: its time, and the memory of an idle queue pair. */
export function queuePairComparisons({ scale, quick }: Extent): Comparison[] {
  const contender = (queuePairs: number): Contender => ({
    name: `${queuePairs} idle`,
    program: 'many_queue_pairs',
    configuration: SHM,
    args: ['-s', '64', '-n', String(Math.max(100, Math.round(20_000 * scale))), '-q', String(queuePairs)],
    x: queuePairs,
  });
  const [first = 1, ...others] = quick ? QUICK : COUNTS;
  return [
    {
      name: 'round trip of 64 bytes beside idle queue pairs, shared memory',
      unit: 'us',
      valueOf: (measurement) => figureOf(measurement, 'median') / 1000,
      better: 'small',
      contenders: [contender(first), ...others.map(contender)],
      targets: [
        {
          title: 'a message beside 10,000 idle queue pairs against one',
          contender: '10000 idle',
          of: 'ratio',
          limit: 1.25,
        },
      ],
      plot: { title: 'Round trip by idle queue pairs', axis: 'idle queue pairs' },
    },
    {
      name: 'resident memory of an idle queue pair with queues of one request, of 10,000',
      unit: 'bytes',
      valueOf: (measurement) => figureOf(measurement, 'bytes'),
      better: 'small',
      contenders: [{ ...contender(10_000), name: 'a queue pair' }],
      targets: [
        {
          title: 'memory of each of 10,000 queue pairs, bytes',
          contender: 'a queue pair',
          of: 'value',
          limit: 4 * KIB,
        },
      ],
    },
  ];
}
