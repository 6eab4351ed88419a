import { awaitedComparison } from './awaited.js';
import type { Comparison, Contender, Target } from './comparisons.js';
import { figureOf } from './program.js';

/** Directly from one device to the other, both in one process: no system call, no other process. */
const LOCAL = 'soft0,link=process,mtu=4096;soft1,link=process,mtu=4096';

const STREAM = 0.8;
const ROUND_TRIP = 1.3;

/** Messages in flight, and messages in one batch. */
const WINDOW = 64;
const LIST = 32;

interface Size {
  /** Messages or round trips. */
  count: number;
  /** Fewer for awaited messages, which take longer. */
  awaited: number;
}

/**
 * The same ping-pong and the same stream in C and at the three speeds of `@verbs/core`: within a process, where only the
 * binding makes a difference, and between two processes over UDP.
 */
export function speedComparisons(scale: number): Comparison[] {
  const sized = (count: number, awaited: number): Size => ({
    count: Math.max(1, Math.round(count * scale)),
    awaited: Math.max(1, Math.round(awaited * scale)),
  });
  return [
    roundTrips(
      'two devices of one process',
      { c: 'local_pingpong', ts: 'rc-local.mjs', configuration: LOCAL },
      sized(50_000, 20_000),
      [],
      WAYS,
    ),
    stream(
      'two devices of one process',
      { c: 'local_stream', ts: 'rc-local.mjs', configuration: LOCAL },
      sized(2_000_000, 200_000),
    ),
    roundTrips(
      'two processes',
      { c: 'rc_pingpong', ts: 'rc-processes.mjs' },
      sized(20_000, 5000),
      [{ contender: 'typed arrays', of: 'ratio', limit: ROUND_TRIP }],
      POLLED,
    ),
    ...AWAITED.map(({ contender, way }) =>
      awaitedComparison({
        name: `round trip of 64 bytes between two processes, RC SEND, awaited by ${contender} of @verbs/core`,
        contender,
        way,
        size: 64,
        count: sized(0, 5000).awaited,
      }),
    ),
    stream('two processes', { c: 'rc_stream', ts: 'rc-processes.mjs' }, sized(200_000, 50_000)),
  ];
}

/** Each of them sleeps: one on the queue, one on its requests. */
const AWAITED = [
  { contender: 'cq.wait()', way: 'wait' },
  { contender: 'qp.send() and qp.recv()', way: 'promises' },
];

interface Speed {
  name: string;
  way: string;
}

const POLLED: readonly Speed[] = [
  { name: 'typed arrays', way: 'batch' },
  { name: 'plain calls', way: 'plain' },
];

const WAYS: readonly Speed[] = [...POLLED, { name: 'awaited', way: 'await' }];

interface Programs {
  c: string;
  ts: string;
  configuration?: string;
}

function roundTrips(
  between: string,
  programs: Programs,
  size: Size,
  targets: Target[],
  speeds: readonly Speed[],
): Comparison {
  return {
    name: `round trip of 64 bytes between ${between}, RC SEND, in C and at the speeds of @verbs/core`,
    unit: 'us',
    valueOf: (measurement) => figureOf(measurement, 'median') / 1000,
    better: 'small',
    contenders: [
      inC(programs, ['-s', '64', '-n', String(size.count)]),
      ...atEachSpeed(programs, 'round-trip', size, speeds),
    ],
    targets,
  };
}

function stream(between: string, programs: Programs, size: Size): Comparison {
  const window = ['-w', String(WINDOW), '-l', String(LIST)];
  return {
    name: `stream of RDMA WRITEs of 64 bytes between ${between}, ${WINDOW} on their way, in C and at the speeds of @verbs/core`,
    unit: 'messages/s',
    valueOf: (measurement) => figureOf(measurement, 'messages'),
    better: 'large',
    contenders: [
      inC(programs, ['-s', '64', '-n', String(size.count), ...window]),
      ...atEachSpeed(programs, 'stream', size, WAYS),
    ],
    targets: [{ contender: 'typed arrays', of: 'ratio', limit: STREAM }],
  };
}

function inC({ c, configuration }: Programs, args: string[]): Contender {
  return { name: 'C', program: c, args, ...(configuration !== undefined && { configuration }) };
}

function atEachSpeed(
  { ts, configuration }: Programs,
  what: string,
  { count, awaited }: Size,
  speeds: readonly Speed[],
): Contender[] {
  return speeds.map(({ name, way }) => ({
    name,
    program: ts,
    args: [way, what, '64', String(way === 'await' ? awaited : count), String(WINDOW), String(LIST)],
    ...(configuration !== undefined && { configuration }),
  }));
}
