import type { Comparison, Contender } from './comparisons.js';
import { figureOf } from './program.js';

const configuration = 'doca_host0,kind=doca,role=host,link=udp;doca_dpu0,kind=doca,role=dpu,link=udp';

const WAYS = [
  { way: 'polled', name: 'sendTo/recvFrom', roundTrip: 1.2 },
  { way: 'awaited', name: 'send/for await', roundTrip: 1.5 },
];

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
  const roundTrips = [64, 4080].flatMap((size) =>
    WAYS.map(({ way, name, roundTrip }): Comparison => ({
      name: `round trip of ${size} bytes over the Comm Channel, ${way}`,
      unit: 'us',
      valueOf: (measurement) => figureOf(measurement, 'median') / 1000,
      better: 'small',
      contenders: contenders(way, name, ['round-trip', String(size), times(5000)]),
      targets: [{ contender: name, of: 'ratio', limit: roundTrip }],
    })),
  );
  const streams = WAYS.map(({ way, name }): Comparison => ({
    name: `messages of 4080 bytes over the Comm Channel, ${way}`,
    unit: 'messages/s',
    valueOf: (measurement) => figureOf(measurement, 'rate'),
    better: 'large',
    contenders: contenders(way, name, ['stream', '4080', times(20_000)]),
    targets: [{ contender: name, of: 'ratio', limit: STREAM }],
  }));
  return [...roundTrips, ...streams];
}
