import type { Comparison, Contender, Extent, Target } from '../comparison.js';
import { libfabric } from '../foreign/libfabric.js';
import { perftestLatency } from '../foreign/perftest.js';
import { CMA, POSIX, RC, TCP, ucx } from '../foreign/ucx.js';
import { figureOf } from '../run/measurement.js';
import { LOCAL, SHM, UDP } from './devices.js';

const SIZES = [8, 64, 512, 4096, 65_536, 1_048_576];
const QUICK = [64, 65_536];
/** A UDP datagram holds no more. */
const DATAGRAM = 60_000;
/** The size that the targets are about. */
const SMALL = 64;

const TARGETS: readonly Target[] = [
  {
    title: 'C over shared memory, SEND of 64 B, round trip against UCX posix',
    contender: 'C, shared memory',
    of: 'ratio',
    against: [POSIX.name],
    limit: 1.5,
  },
  {
    // The memory of UCX's program is shared as well.
    title: 'the same with memory files',
    contender: 'C, shared memory, memory files',
    of: 'ratio',
    against: [POSIX.name],
    limit: 1.5,
  },
  {
    title: 'C over UDP, 64 B, round trip against bare UDP sockets',
    contender: 'C, UDP',
    of: 'ratio',
    against: ['UDP sockets'],
    limit: 1.25,
  },
  {
    title: 'C over UDP, 64 B, round trip against libfabric udp;ofi_rxd',
    contender: 'C, UDP',
    of: 'ratio',
    against: ['libfabric udp;ofi_rxd'],
    limit: 1,
  },
  ...(['near', 'far'] as const).map((placement): Target => ({
    title: `TypeScript, busy-polled, 64 B, round trip against C, ${placement} processors`,
    contender: 'TypeScript batches, shared memory',
    of: 'ratio',
    limit: placement === 'near' ? 1.6 : 1.3,
    placement,
  })),
];

/** Round trips between two processes that poll, of each size; Node's own ways sleep. */
export function latencyComparisons({ scale, quick }: Extent): Comparison[] {
  return (quick ? QUICK : SIZES).map((size) => {
    const count = Math.max(50, Math.round((20_000 * scale) / (1 + size / 4096)));
    return {
      name: `round trip of ${size} bytes between two processes`,
      unit: 'us',
      valueOf: (measurement) => figureOf(measurement, 'median') / 1000,
      better: 'small',
      contenders: contenders(size, count),
      targets: size === SMALL ? TARGETS : [],
      plot: { title: 'Round trip by size', axis: 'bytes', x: size },
    };
  });
}

function contenders(size: number, count: number): [Contender, ...Contender[]] {
  const few = Math.max(50, Math.round(count / 4));
  const inC = (name: string, program: string, configuration: string, options: readonly string[] = []): Contender => ({
    name,
    program,
    configuration,
    args: ['-s', String(size), '-n', String(count), ...options],
  });
  const inTypeScript = (name: string, way: string, configuration: string): Contender => ({
    name,
    program: 'rc-processes.mjs',
    configuration,
    args: [way, 'round-trip', String(size), String(count)],
  });
  const ofNode = (name: string, program: string, way: string): Contender => ({
    name,
    program,
    args: [way, 'round-trip', String(size), String(few)],
  });
  return [
    inC('C, shared memory', 'rc_pingpong', SHM),
    inC('C, shared memory, memory files', 'rc_pingpong', SHM, ['-m']),
    inTypeScript('TypeScript batches, shared memory', 'batch', SHM),
    inTypeScript('TypeScript plain calls, shared memory', 'plain', SHM),
    ucx(POSIX, 'tag_lat', size, count),
    ucx(CMA, 'tag_lat', size, count),
    perftestLatency('ib_send_lat, shared memory', size, count, SHM),
    ucx(RC, 'tag_lat', size, count),
    inC('Open MPI on our verbs', 'mpi.mjs', SHM),
    libfabric('shm', size, few),
    inC('C, one process', 'local_pingpong', LOCAL),
    inC('C, UDP', 'rc_pingpong', UDP),
    ...(size <= DATAGRAM ? [inC('UDP sockets', 'udp_pingpong', UDP)] : []),
    libfabric('udp;ofi_rxd', size, few),
    perftestLatency('ib_send_lat, UDP', size, count, UDP),
    ucx(TCP, 'tag_lat', size, count),
    { ...ofNode('socket of @verbs/core/stream, shared memory', 'socket.mjs', 'verbs'), configuration: SHM },
    ofNode('Node unix socket', 'socket.mjs', 'unix'),
    ofNode('Node TCP', 'socket.mjs', 'tcp'),
    ofNode('Node MessagePort', 'message-port.mjs', 'port'),
    ofNode('ZeroMQ', 'zeromq.mjs', 'ipc'),
  ];
}
