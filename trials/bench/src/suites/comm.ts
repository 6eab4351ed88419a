import type { Comparison, Contender, Extent } from '../comparison.js';
import { figureOf } from '../run/measurement.js';
import { awaitedComparison } from './awaited.js';
import { bluefield } from './devices.js';

const configuration = bluefield('shm');

const POLLED = { way: 'polled', name: 'sendTo/recvFrom' };
const AWAITED = { way: 'awaited', name: 'send/for await' };

/** Both APIs carry the same endpoints. */
const APIS = [
  { name: 'the Comm Channel', title: 'Comm Channel', environment: { VERBS_DOCA_API: 'comm-channel' } },
  { name: 'Comch', title: 'Comch', environment: { VERBS_DOCA_API: 'comch' } },
];

/**
 * Endpoints over the Comm Channel and over Comch, over shared memory, beside Node's net on a unix socket, each a pair of Node
 * processes. A socket cannot be polled, so it is the same contender in both ways.
 */
export function commComparisons(extent: Extent): Comparison[] {
  return APIS.flatMap((api) => comparisonsOf(api, extent));
}

function comparisonsOf(
  { name: of, title, environment }: (typeof APIS)[number],
  { scale, quick }: Extent,
): Comparison[] {
  const times = (count: number) => String(Math.max(1, Math.round(count * scale)));
  const contenders = (way: string, name: string, args: string[]): [Contender, Contender] => [
    { name: 'unix socket', program: 'socket.mjs', args: ['unix', ...args] },
    { name, program: 'comm-channel.mjs', configuration, environment, args: [way, ...args] },
  ];
  const roundTrips = (quick ? [64] : [64, 4080]).flatMap((size): Comparison[] => [
    {
      name: `round trip of ${size} bytes over ${of}, polled`,
      unit: 'us',
      valueOf: (measurement) => figureOf(measurement, 'median') / 1000,
      better: 'small',
      contenders: contenders(POLLED.way, POLLED.name, ['round-trip', String(size), times(5000)]),
      targets: [
        {
          title: `${title}, ${size} B, polled round trip against Node's unix socket`,
          contender: POLLED.name,
          of: 'ratio',
          limit: 1 / 3,
        },
      ],
    },
    awaitedComparison({
      what: title,
      contender: AWAITED.name,
      way: 'comm',
      size,
      count: Number(times(5000)),
      configuration,
      environment,
    }),
  ]);
  const streams = [POLLED, AWAITED].map(({ way, name }): Comparison => ({
    name: `messages of 4080 bytes over ${of}, ${way}`,
    unit: 'messages/s',
    valueOf: (measurement) => figureOf(measurement, 'rate'),
    better: 'large',
    contenders: contenders(way, name, ['stream', '4080', times(20_000)]),
    targets: [
      {
        title: `${title}, 4080 B, ${way} rate against Node's unix socket`,
        contender: name,
        of: 'ratio',
        limit: 3,
      },
    ],
  }));
  return [...roundTrips, ...streams];
}
