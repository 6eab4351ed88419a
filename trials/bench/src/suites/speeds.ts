import type { Comparison, Contender, Extent } from '../comparison.js';
import { figureOf } from '../run/measurement.js';
import { awaitedComparison } from './awaited.js';
import { LOCAL, SHM } from './devices.js';

/** Messages in flight, and messages in one batch. */
const WINDOW = 64;
const LIST = 32;

const SPEEDS = [
  { name: 'typed arrays', way: 'batch' },
  { name: 'plain calls', way: 'plain' },
  { name: 'awaited', way: 'await' },
];

/** Each of them sleeps: one on the queue, one on its requests. */
const SLEEPERS = [
  { contender: 'cq.wait()', way: 'wait' },
  { contender: 'qp.send() and qp.recv()', way: 'promises' },
];

/**
 * The same ping-pong and the same stream in C and at the three speeds of `@verbs/core` within a process, where only the
 * binding makes a difference; and awaited round trips between two processes.
 */
export function speedComparisons({ scale, quick }: Extent): Comparison[] {
  const times = (count: number) => Math.max(1, Math.round(count * scale));
  // Fewer awaited messages, which take longer.
  const contenders = (c: string, what: string, [count, awaited]: [number, number], more: string[]) => {
    const inC: Contender = {
      name: 'C',
      program: c,
      configuration: LOCAL,
      args: ['-s', '64', '-n', String(times(count)), ...more],
    };
    const atEachSpeed = SPEEDS.map(({ name, way }): Contender => {
      const number = String(times(way === 'await' ? awaited : count));
      const args = [way, what, '64', number, String(WINDOW), String(LIST)];
      return { name, program: 'rc-local.mjs', configuration: LOCAL, args };
    });
    return [inC, ...atEachSpeed] as const satisfies Comparison['contenders'];
  };
  return [
    {
      name: 'round trip of 64 bytes between two devices of one process, RC SEND, in C and at the speeds of @verbs/core',
      unit: 'us',
      valueOf: (measurement) => figureOf(measurement, 'median') / 1000,
      better: 'small',
      contenders: contenders('local_pingpong', 'round-trip', [50_000, 20_000], []),
      targets: [],
    },
    {
      name: `stream of RDMA WRITEs of 64 bytes between two devices of one process, ${WINDOW} on their way, in C and at the speeds of @verbs/core`,
      unit: 'messages/s',
      valueOf: (measurement) => figureOf(measurement, 'messages'),
      better: 'large',
      contenders: contenders(
        'local_stream',
        'stream',
        [2_000_000, 200_000],
        ['-w', String(WINDOW), '-l', String(LIST)],
      ),
      targets: [
        {
          title: 'TypeScript batches within one process, rate against C',
          contender: 'typed arrays',
          of: 'ratio',
          limit: 0.8,
        },
      ],
    },
    ...SLEEPERS.flatMap(({ contender, way }) =>
      (quick ? [false] : [false, true]).map((oneProcessor) =>
        awaitedComparison({
          what: `RC SEND by ${contender}`,
          contender,
          way,
          size: 64,
          count: times(5000),
          configuration: SHM,
          oneProcessor,
        }),
      ),
    ),
  ];
}
