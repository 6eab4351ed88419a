import type { Comparison, Contender, Extent, Target } from '../comparison.js';
import { perftestBandwidth } from '../foreign/perftest.js';
import { CMA, POSIX, RC, TCP, ucx } from '../foreign/ucx.js';
import { figureOf, type Measurement } from '../run/measurement.js';
import { SHM, UDP } from './devices.js';

const SIZE = 64;
/** Messages in flight, and messages in one post call. */
const WINDOW = 64;
const LIST = 32;

/** Sockets report a rate of messages under that name, streams of bytes under another. */
export function messages(measurement: Measurement): number {
  return figureOf(measurement, 'messages' in measurement ? 'messages' : 'rate');
}

/** Messages of 64 bytes a second, in one direction between two processes. */
export function rateComparisons({ scale, baseline }: Extent): Comparison[] {
  const times = (count: number) => Math.max(WINDOW, Math.round(count * scale));
  const inC = (name: string, program: string, configuration: string, window: number): Contender => ({
    name,
    program,
    configuration,
    args: ['-s', String(SIZE), '-n', String(times(1_000_000)), '-w', String(window), '-l', String(LIST)],
  });
  const inTypeScript = (name: string, way: string, configuration: string, count: number): Contender => ({
    name,
    program: 'rc-processes.mjs',
    configuration,
    args: [way, 'stream', String(SIZE), String(times(count)), String(WINDOW), String(LIST)],
  });
  const ofNode = (name: string, program: string, way: string): Contender => ({
    name,
    program,
    args: [way, 'stream', String(SIZE), String(times(200_000))],
  });
  const ofMpi: Contender = {
    name: 'Open MPI on our verbs',
    program: 'mpi.mjs',
    configuration: SHM,
    args: ['-s', String(SIZE), '-n', String(times(200_000)), '-w', String(WINDOW)],
  };
  const awaited = inTypeScript('TypeScript await qp.send(), shared memory', 'promise', SHM, 100_000);
  const former =
    baseline === undefined ? [] : [{ ...awaited, name: 'TypeScript await qp.send(), baseline', checkout: baseline }];
  return [
    {
      name: `messages of ${SIZE} bytes between two processes`,
      unit: 'messages/s',
      valueOf: messages,
      better: 'large',
      contenders: [
        inC('C WRITE, shared memory', 'rc_stream', SHM, WINDOW),
        inTypeScript('TypeScript batches, shared memory', 'batch', SHM, 1_000_000),
        inTypeScript('TypeScript plain calls, shared memory', 'plain', SHM, 200_000),
        awaited,
        ...former,
        inTypeScript('TypeScript await cq.wait(), shared memory', 'await', SHM, 100_000),
        inC('C SEND, shared memory', 'rc_messages', SHM, 256),
        ucx(POSIX, 'tag_bw', SIZE, times(1_000_000)),
        ucx(CMA, 'tag_bw', SIZE, times(1_000_000)),
        perftestBandwidth('ib_send_bw', 'ib_send_bw, shared memory', SIZE, times(200_000), SHM),
        ucx(RC, 'tag_bw', SIZE, times(200_000)),
        ofMpi,
        inC('C SEND, UDP', 'rc_messages', UDP, 256),
        inC('C WRITE, UDP', 'rc_stream', UDP, WINDOW),
        inTypeScript('TypeScript batches, UDP', 'batch', UDP, 500_000),
        ucx(TCP, 'tag_bw', SIZE, times(200_000)),
        { ...ofNode('socket of @verbs/core/stream, shared memory', 'socket.mjs', 'verbs'), configuration: SHM },
        ofNode('Node unix socket', 'socket.mjs', 'unix'),
        ofNode('Node TCP', 'socket.mjs', 'tcp'),
        ofNode('Node MessagePort', 'message-port.mjs', 'port'),
        ofNode('ZeroMQ', 'zeromq.mjs', 'ipc'),
      ],
      targets: targets(baseline !== undefined),
    },
  ];
}

function targets(relative: boolean): Target[] {
  const rows: Target[] = [
    {
      title: 'C over shared memory, SEND of 64 B, rate against UCX posix',
      contender: 'C SEND, shared memory',
      of: 'ratio',
      against: [POSIX.name],
      limit: 0.5,
    },
    {
      title: 'C over shared memory, SEND of 64 B, rate with near processors',
      contender: 'C SEND, shared memory',
      of: 'value',
      limit: 8_000_000,
      placement: 'near',
    },
    {
      title: 'TypeScript batches, rate against C',
      contender: 'TypeScript batches, shared memory',
      of: 'ratio',
      limit: 0.8,
    },
    {
      title: "TypeScript batches, rate against Node's unix socket",
      contender: 'TypeScript batches, shared memory',
      of: 'ratio',
      against: ['Node unix socket'],
      limit: 6,
    },
  ];
  if (!relative) return rows;
  return [
    ...rows,
    {
      title: 'awaited qp.send, rate against the baseline',
      contender: 'TypeScript await qp.send(), shared memory',
      of: 'ratio',
      against: ['TypeScript await qp.send(), baseline'],
      limit: 3,
    },
  ];
}
