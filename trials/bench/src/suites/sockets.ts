import type { Comparison, Contender, Extent } from '../comparison.js';
import { figureOf, type Measurement } from '../run/measurement.js';
import { SHM, UDP } from './devices.js';

const SMALL = 64;
const LARGE = 65_536;
/** Of values. */
const MIDDLE = 4096;
const UNIX = 'Node unix socket';
const SOCKET = 'socket of @verbs/core/stream, shared memory';
const PORT = 'messagePort(socket), shared memory';

const rateOf = (measurement: Measurement) => figureOf(measurement, 'rate');
const microseconds = (measurement: Measurement) => figureOf(measurement, 'median') / 1000;

/**
 * Sockets and ports of `@verbs/core/stream` beside what Node.js has: sockets of `node:net`, and ports of `node:worker_threads`. The two
 * ends are processes; those of a MessagePort are threads.
 */
export function socketComparisons({ scale }: Extent): Comparison[] {
  const times = (count: number) => String(Math.max(100, Math.round(count * scale)));
  const contenders = (program: string, what: string, size: number, count: number): [Contender, ...Contender[]] => {
    const by = (name: string, way: string, configuration?: string): Contender => ({
      name,
      program,
      args: [way, what, String(size), times(count)],
      ...(configuration !== undefined && { configuration }),
    });
    return [
      by(UNIX, 'unix'),
      by('Node TCP', 'tcp'),
      { ...by('Node MessagePort between threads', 'port'), program: 'message-port.mjs' },
      by(SOCKET, 'verbs', SHM),
      by('socket of @verbs/core/stream, UDP', 'verbs', UDP),
    ];
  };
  const ports = (what: string, size: number, count: number): [Contender, ...Contender[]] => {
    const args = [what, String(size), times(count)];
    return [
      { name: 'Node MessagePort between threads', program: 'message-port.mjs', args: ['port', ...args] },
      { name: PORT, program: 'socket-port.mjs', configuration: SHM, args: ['verbs', ...args] },
      { name: 'messagePort(socket), UDP', program: 'socket-port.mjs', configuration: UDP, args: ['verbs', ...args] },
    ];
  };
  return [
    {
      name: `round trip of ${SMALL} bytes over a socket`,
      unit: 'us',
      valueOf: microseconds,
      better: 'small',
      contenders: contenders('socket.mjs', 'round-trip', SMALL, 10_000),
      targets: [
        {
          title: `Socket over shared memory, ${SMALL} B, round trip against Node's unix socket`,
          contender: SOCKET,
          of: 'ratio',
          limit: 1,
        },
      ],
    },
    {
      name: `writes of ${LARGE} bytes into a socket`,
      unit: 'MB/s',
      valueOf: (measurement) => (rateOf(measurement) * LARGE) / 1e6,
      better: 'large',
      contenders: contenders('writes.mjs', 'stream', LARGE, 20_000),
      targets: [
        {
          title: `Socket over shared memory, writes of ${LARGE / 1024} KiB, MB/s against Node's unix socket`,
          contender: SOCKET,
          of: 'ratio',
          limit: 2,
        },
      ],
    },
    {
      name: `round trip of a value of ${SMALL} bytes by postMessage`,
      unit: 'us',
      valueOf: microseconds,
      better: 'small',
      contenders: ports('round-trip', SMALL, 10_000),
      targets: [],
    },
    {
      name: `values of ${MIDDLE} bytes by postMessage`,
      unit: 'messages/s',
      valueOf: rateOf,
      better: 'large',
      contenders: ports('stream', MIDDLE, 50_000),
      targets: [],
    },
  ];
}
