import { awaitedComparison } from './awaited.js';
import type { Comparison, Contender } from './comparisons.js';
import { figureOf } from './program.js';

const configuration = 'doca_host0,kind=doca,role=host,link=udp;doca_dpu0,kind=doca,role=dpu,link=udp';

const POLLED = { way: 'polled', name: 'sendTo/recvFrom' };
const AWAITED = { way: 'awaited', name: 'send/for await' };

const ROUND_TRIP = 1.2;
const STREAM = 0.5;

/**
 * The Comm Channel over the UDP link beside Node's net on a unix socket, each a pair of Node processes. A socket cannot
 * be polled, so it is the same contender in both ways.
 */
export function commComparisons(scale: number): Comparison[] {
  const times = (count: number) => String(Math.max(1, Math.round(count * scale)));
  const contenders = (way: string, name: string, args: string[]): [Contender, Contender] => [
    { name: 'unix socket', program: 'unix-socket.mjs', args: ['framed', ...args] },
    { name, program: 'comm-channel.mjs', configuration, args: [way, ...args] },
  ];
  const roundTrips = [64, 4080].flatMap((size): Comparison[] => [
    {
      name: `round trip of ${size} bytes over the Comm Channel, polled`,
      unit: 'us',
      valueOf: (measurement) => figureOf(measurement, 'median') / 1000,
      better: 'small',
      contenders: contenders(POLLED.way, POLLED.name, ['round-trip', String(size), times(5000)]),
      targets: [{ contender: POLLED.name, of: 'ratio', limit: ROUND_TRIP }],
    },
    awaitedComparison({
      name: `round trip of ${size} bytes over the Comm Channel, awaited`,
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
    targets: [{ contender: name, of: 'ratio', limit: STREAM }],
  }));
  return [...roundTrips, ...streams];
}
