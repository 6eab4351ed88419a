import type { Comparison, Contender, Extent, Target } from '../comparison.js';
import { perftestBandwidth } from '../foreign/perftest.js';
import { CMA, POSIX, RC, TCP, ucx } from '../foreign/ucx.js';
import { figureOf, type Measurement } from '../run/measurement.js';
import { bluefield, LOCAL, SHM, UDP } from './devices.js';
import { messages } from './rates.js';

const SIZES = [4096, 65_536, 1_048_576];
const QUICK = [65_536, 1_048_576];
const GIB = 2 ** 30;
/** The targets begin here. */
const LARGE = 65_536;
/** As `ucx_perftest`: its memory is from UCX, which shares it, and all its messages have the same place there. */
const AS_UCX = 'C WRITE, shared memory, memory files, one place';
const READ_AS_UCX = 'C READ, shared memory, memory files, one place';
const UCX_GET = { ...POSIX, name: 'UCX posix, get' };
const WRITE = 'C WRITE, shared memory';
const WRITE_IN_FILES = 'C WRITE, shared memory, memory files';
const FAST_PATH = 'fast path of Comch, TypeScript';
/** Of RDMA WRITEs that are on their way. */
const WINDOW = 16;

/** Streams in one direction between two processes. */
export function bandwidthComparisons({ scale, quick }: Extent): Comparison[] {
  return (quick ? QUICK : SIZES).map((size) => {
    const count = Math.max(100, Math.round((GIB / (size + 8192)) * scale));
    return {
      name: `stream of messages of ${size} bytes between two processes`,
      unit: 'MB/s',
      valueOf: (measurement) => megabytes(measurement, size),
      better: 'large',
      contenders: quick || size < LARGE ? contenders(size, count) : [...contenders(size, count), ...reads(size, count)],
      targets: targets(size),
      plot: { title: 'Bandwidth by size', axis: 'bytes', x: size },
    };
  });
}

/** Some programs report only the rate of messages. */
function megabytes(measurement: Measurement, size: number): number {
  if (measurement['unit'] !== 'messages/s') return figureOf(measurement, 'rate');
  return (messages(measurement) * size) / 1e6;
}

function contenders(size: number, count: number): [Contender, ...Contender[]] {
  const few = Math.max(100, Math.round(count / 8));
  const writes = (name: string, program: string, configuration: string, more: string[] = []): Contender => ({
    name,
    program,
    configuration,
    args: ['-s', String(size), '-n', String(count), '-w', String(WINDOW), ...more],
  });
  const ofNode = (name: string, program: string, way: string): Contender => ({
    name,
    program,
    args: [way, 'stream', String(size), String(few)],
  });
  return [
    writes(WRITE, 'rc_stream', SHM),
    writes(WRITE_IN_FILES, 'rc_stream', SHM, ['-m']),
    writes(AS_UCX, 'rc_stream', SHM, ['-m', '-o']),
    {
      name: 'TypeScript WRITE, shared memory',
      program: 'rc-processes.mjs',
      configuration: SHM,
      args: ['batch', 'stream', String(size), String(count), String(WINDOW), '4'],
    },
    {
      name: FAST_PATH,
      program: 'comch-bulk.mjs',
      configuration: bluefield('shm'),
      args: ['polled', 'stream', String(size), String(count)],
    },
    ucx(POSIX, 'ucp_put_bw', size, count),
    // CMA moves the messages of a rendezvous; puts would go through mapped memory.
    ucx(CMA, 'tag_bw', size, count),
    perftestBandwidth('ib_write_bw', 'ib_write_bw, shared memory', size, few, SHM),
    perftestBandwidth('ib_read_bw', 'ib_read_bw, shared memory', size, few, SHM),
    ucx(RC, 'ucp_put_bw', size, few),
    writes('C WRITE, one process', 'local_stream', LOCAL),
    writes('C WRITE, UDP', 'rc_stream', UDP),
    writes('C WRITE, UDP, the target sleeps', 'rc_stream', UDP, ['-b']),
    perftestBandwidth('ib_write_bw', 'ib_write_bw, UDP', size, few, UDP),
    ucx(TCP, 'tag_bw', size, count),
    { ...ofNode('socket of @verbs/core/stream, shared memory', 'socket.mjs', 'verbs'), configuration: SHM },
    ofNode('Node unix socket', 'socket.mjs', 'unix'),
    ofNode('Node TCP', 'socket.mjs', 'tcp'),
    ofNode('Node MessagePort', 'message-port.mjs', 'port'),
    ofNode('ZeroMQ', 'zeromq.mjs', 'ipc'),
  ];
}

/** Of the other process' memory, and the same by UCX. */
function reads(size: number, count: number): Contender[] {
  const stream = (name: string, more: string[]): Contender => ({
    name,
    program: 'rc_stream',
    configuration: SHM,
    args: ['-r', '-s', String(size), '-n', String(count), '-w', String(WINDOW), ...more],
  });
  return [
    stream('C READ, shared memory', []),
    stream('C READ, shared memory, memory files', ['-m']),
    stream(READ_AS_UCX, ['-m', '-o']),
    ucx(UCX_GET, 'ucp_get', size, count),
  ];
}

function targets(size: number): Target[] {
  if (size < LARGE) return [];
  const kib = `${size / 1024} KiB`;
  const fastPath: Target = {
    title: `Fast path of Comch, ${kib}, against a WRITE over shared memory`,
    contender: FAST_PATH,
    of: 'ratio',
    against: [WRITE, WRITE_IN_FILES],
    limit: 0.9,
  };
  return [
    ...(size === 2 ** 20 ? [fastPath] : []),
    {
      title: `C over shared memory, WRITE of ${kib}, against the best of UCX posix and cma`,
      contender: AS_UCX,
      of: 'ratio',
      against: [POSIX.name, CMA.name],
      limit: 1,
    },
    {
      title: `C over UDP, WRITE of ${kib} at MTU 4096, MB/s`,
      contender: 'C WRITE, UDP',
      of: 'value',
      limit: 3000,
    },
  ];
}
