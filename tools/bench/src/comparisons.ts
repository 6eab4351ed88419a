import { commComparisons } from './comm.js';
import { type Measurement, figureOf } from './program.js';
import { reformatComparisons } from './reformat.js';
import { speedComparisons } from './speeds.js';

/** One contender: a program and its arguments. */
export interface Contender {
  name: string;
  program: string;
  /** The software NIC's configuration; by default a plain device on UDP alone. */
  configuration?: string;
  args: readonly string[];
  /** Its figure, where one run of the program measures several contenders in turn. */
  figure?: string;
}

/** Contenders that alternate, so that each meets the same state of the machine. */
export interface Comparison {
  name: string;
  unit: string;
  /** The figure that counts, in the comparison's unit. */
  valueOf: (measurement: Measurement, contender: Contender) => number;
  /** Small is good for times, large for rates. */
  better: 'small' | 'large';
  /** The first one is the reference of the others. */
  contenders: readonly [Contender, ...Contender[]];
  targets: readonly Target[];
}

/** The target: a ratio of a contender to the first, or its own figure. */
export interface Target {
  contender: string;
  of: 'ratio' | 'value';
  limit: number;
}

const SHARED_MEMORY = 'soft0,link=shm,mtu=4096';

/** @param scale multiplies the number of round trips and messages: 1 for figures, less for a quick run. */
export function comparisons(scale = 1): Comparison[] {
  const doorbells = { configuration: 'hbl_0,kind=hbl', args: [String(Math.max(32, Math.round(100_000 * scale)))] };
  const times = (count: number) => ['-n', String(Math.max(1, Math.round(count * scale)))];
  const smallWrites = ['-s', '64', '-w', '64', '-l', '32', ...times(200_000)];
  return [
    {
      name: 'round trip of 64 bytes between two processes, both polling',
      unit: 'us',
      valueOf: (measurement) => figureOf(measurement, 'median') / 1000,
      better: 'small',
      contenders: [
        { name: 'UDP sockets', program: 'udp_pingpong', args: ['-s', '64', ...times(20_000)] },
        { name: 'RC SEND', program: 'rc_pingpong', args: ['-s', '64', ...times(20_000)] },
        {
          name: 'RC SEND, shared memory',
          program: 'rc_pingpong',
          args: ['-s', '64', ...times(20_000)],
          configuration: SHARED_MEMORY,
        },
      ],
      targets: [{ contender: 'RC SEND', of: 'ratio', limit: 2 }],
    },
    {
      name: 'stream of RDMA WRITEs of 1 MiB between two processes, 16 on their way, MTU 4096',
      unit: 'MB/s',
      valueOf: (measurement) => figureOf(measurement, 'rate'),
      better: 'large',
      contenders: [
        { name: 'the target polls', program: 'rc_stream', args: ['-s', '1048576', '-w', '16', ...times(256)] },
        { name: 'the target sleeps', program: 'rc_stream', args: ['-s', '1048576', '-w', '16', '-b', ...times(256)] },
        {
          name: 'shared memory, the target polls',
          program: 'rc_stream',
          args: ['-s', '1048576', '-w', '16', ...times(256)],
          configuration: SHARED_MEMORY,
        },
      ],
      targets: [{ contender: 'the target polls', of: 'value', limit: 300 }],
    },
    {
      name: 'stream of RDMA WRITEs of 64 bytes between two processes, 64 on their way, by link',
      unit: 'messages/s',
      valueOf: (measurement) => figureOf(measurement, 'messages'),
      better: 'large',
      contenders: [
        { name: 'UDP', program: 'rc_stream', args: smallWrites },
        { name: 'shared memory', program: 'rc_stream', args: smallWrites, configuration: SHARED_MEMORY },
      ],
      targets: [],
    },
    {
      name: "a doorbell into a user FIFO of the model of Habana's devices, in batches of 32",
      unit: 'ns',
      valueOf: (measurement) => figureOf(measurement, 'push'),
      better: 'small',
      contenders: [
        { name: 'C', program: 'doorbell_push', ...doorbells },
        { name: 'TypeScript', program: 'doorbell-push.mjs', ...doorbells },
      ],
      targets: [{ contender: 'TypeScript', of: 'ratio', limit: 1.5 }],
    },
    ...speedComparisons(scale),
    ...commComparisons(scale),
    ...reformatComparisons(scale),
  ];
}
