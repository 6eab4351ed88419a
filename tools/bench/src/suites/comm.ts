import type { Comparison, Contender, Extent } from '../comparison.js';
import { figureOf } from '../run/program.js';
import { awaitedComparison } from './awaited.js';
import { bluefield } from './devices.js';

const configuration = bluefield('shm');

const POLLED = { way: 'polled', name: 'sendTo/recvFrom' };
const AWAITED = { way: 'awaited', name: 'send/for await' };

/**
 * The Comm Channel over shared memory beside Node's net on a unix socket, each a pair of Node processes. A socket cannot
 * be polled, so it is the same contender in both ways.
 */
export function commComparisons({ scale, quick }: Extent): Comparison[] {
  const times = (count: number) => String(Math.max(1, Math.round(count * scale)));
  const contenders = (way: string, name: string, args: string[]): [Contender, Contender] => [
    { name: 'unix socket', program: 'socket.mjs', args: ['unix', ...args] },
    { name, program: 'comm-channel.mjs', configuration, args: [way, ...args] },
  ];
  const roundTrips = (quick ? [64] : [64, 4080]).flatMap((size): Comparison[] => [
    {
      name: `round trip of ${size} bytes over the Comm Channel, polled`,
      unit: 'us',
      valueOf: (measurement) => figureOf(measurement, 'median') / 1000,
      better: 'small',
      contenders: contenders(POLLED.way, POLLED.name, ['round-trip', String(size), times(5000)]),
      targets: [
        {
          title: `Comm Channel, ${size} B, polled round trip against Node's unix socket`,
          contender: POLLED.name,
          of: 'ratio',
          limit: 1 / 3,
        },
      ],
    },
    awaitedComparison({
      what: 'Comm Channel',
      contender: AWAITED.name,
      way: 'comm',
      size,
      count: Number(times(5000)),
      configuration,
    }),
  ]);
  const streams = [POLLED, AWAITED].map(({ way, name }): Comparison => ({
    name: `messages of 4080 bytes over the Comm Channel, ${way}`,
    unit: 'messages/s',
    valueOf: (measurement) => figureOf(measurement, 'rate'),
    better: 'large',
    contenders: contenders(way, name, ['stream', '4080', times(20_000)]),
    targets: [
      {
        title: `Comm Channel, 4080 B, ${way} rate against Node's unix socket`,
        contender: name,
        of: 'ratio',
        limit: 3,
      },
    ],
  }));
  return [...roundTrips, ...streams];
}
