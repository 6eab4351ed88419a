import { openDevice } from '@verbs/core';
import { Argument, Command, Option } from 'commander';
import { Failure } from '@verbs/lib/failure';
import { note, print, printJson } from '../output.js';
import { measure } from '../perf/client.js';
import {
  ATOMIC_BYTES,
  type Atomic,
  ATOMICS,
  checkPlan,
  type Kind,
  KINDS,
  MAX_DEPTH,
  MAX_ITERATIONS,
  MAX_SIZE,
  type Operation,
  OPERATIONS,
  type Plan,
  sweep,
  type Transport,
  TRANSPORTS,
} from '../perf/plan.js';
import { serve } from '../perf/server.js';
import {
  bandwidthLine,
  type BandwidthResult,
  header,
  histogramText,
  latencyLine,
  type LatencyResult,
} from '../perf/table.js';
import { hex } from '../text.js';
import { DEFAULT_PORT, serversPort, waitAt } from './listening.js';
import { integer, seconds, stopSignal } from './settings.js';

interface Options {
  connection: Transport;
  size?: number;
  all?: boolean;
  iters?: number;
  txDepth: number;
  list: number;
  bidirectional?: boolean;
  atomic: Atomic;
  bind: string;
  port: number;
  device?: string;
  timeout: number;
  histogram?: boolean;
  json?: boolean;
}

export function perfCommand(): Command {
  return new Command('perf')
    .description('latency and bandwidth between two processes, in the columns of perftest')
    .addArgument(new Argument('<kind>', 'latency or bandwidth').choices(KINDS))
    .addArgument(new Argument('<operation>').choices(OPERATIONS))
    .argument('[address]', 'where the server is; without it this is the server')
    .addOption(new Option('-c, --connection <type>', 'the transport').choices(TRANSPORTS).default('RC'))
    .option('-s, --size <bytes>', 'bytes of a message (default: lat 2, bw 65536, UD the MTU)', integer(1, MAX_SIZE))
    .addOption(new Option('-a, --all', `sizes 2, 4, 8, … ${MAX_SIZE}; UD up to the MTU`).conflicts('size'))
    .option(
      '-n, --iters <number>',
      'messages of a measurement (default: lat 1000, bw 5000)',
      integer(1, MAX_ITERATIONS),
    )
    .option('-t, --tx-depth <number>', 'bw: messages in flight', integer(1, MAX_DEPTH), 128)
    .option('-l, --list <number>', 'bw: requests in one post call', integer(1, MAX_DEPTH), 16)
    .option('-b, --bidirectional', 'bw write, read, atomic: both ends post; the sum of both directions')
    .addOption(new Option('-A, --atomic <type>', 'which atomic operation').choices(ATOMICS).default('fetch-and-add'))
    .option('--bind <address>', 'server: the TCP address to wait on', '127.0.0.1')
    .option(
      '-p, --port <port>',
      'the TCP port of the first contact; server, 0: any free one',
      integer(0, 65535),
      DEFAULT_PORT,
    )
    .option('-d, --device <device>', 'the RDMA device (default: the first hardware device, else the software NIC)')
    .option('--timeout <seconds>', 'how long to wait for a message', seconds(0.001), 5)
    .option('-H, --histogram', 'lat: how the times are spread')
    .option('--json', 'print one JSON document at the end')
    .addHelpText(
      'after',
      `
Examples:
  verbs perf lat send                   in one shell: the server
  verbs perf lat send 127.0.0.1         in another: round trips of SENDs, halved
  verbs perf bw write 127.0.0.1 -a      all sizes; the server is "verbs perf bw write"
  verbs perf lat read HOST -H --json

The client decides and tells the server by TCP; a server serves one client. SENDs and WRITEs are answered by the peer's
program and half the time counts, READs and atomic operations by its NIC and the whole time counts. A MB is 2^20 bytes, as
in perftest. UC carries send and write, UD send. Both ends poll without a pause. Exit code 1 if something gets lost on RC.`,
    )
    .action(async (kind: Kind, operation: Operation, address: string | undefined, options: Options) => {
      const stop = stopSignal();
      if (address === undefined) await server(kind, operation, options, stop);
      else await client({ kind, operation, address, options, stop });
    });
}

interface ClientTask {
  kind: Kind;
  operation: Operation;
  address: string;
  options: Options;
  stop: AbortSignal;
}

async function client({ kind, operation, address, options, stop }: ClientTask): Promise<void> {
  using context = openDevice(options.device);
  const mtu = 128 << context.queryPort(1).activeMtu;
  const plan = planOf(kind, operation, options, mtu);
  const results: (LatencyResult | BandwidthResult)[] = [];
  let peer = {};
  await measure(
    context,
    { host: address, port: serversPort(options.port), plan, timeoutMs: options.timeout * 1000, signal: stop },
    {
      onPeer: ({ gid, qpNum }) => {
        peer = { gid, qpNum };
        if (options.json) return;
        print(`${plan.transport} ${operation}, ${context.device.name} to ${gid} QPN ${hex(qpNum)}, MTU ${mtu}`);
        print(header(kind));
      },
      onSize: (bytes) => {
        // Not on a terminal: a line would be overwritten unread.
        if (process.stderr.isTTY || plan.sizes.length > 1) note(`measuring ${bytes} bytes`);
      },
      onLatency: (result) => {
        results.push(result);
        if (options.json) return;
        print(latencyLine(result));
        if (options.histogram) print(histogramText(result.histogram));
      },
      onBandwidth: (result) => {
        results.push(result);
        if (!options.json) print(bandwidthLine(result));
        const lost = result.received === undefined ? 0 : result.iterations - result.received;
        if (lost > 0) note(`${lost} of ${result.iterations} messages were lost`);
      },
    },
  ).finally(() => {
    // Also if a later size fails.
    if (options.json && results.length > 0)
      printJson({ device: context.device.name, peer, ...planJson(plan), mtu, results: results.map(json(options)) });
  });
}

function planOf(kind: Kind, operation: Operation, options: Options, mtu: number): Plan {
  const { connection: transport, atomic, txDepth: depth } = options;
  if (options.histogram && kind !== 'lat') throw new Failure('--histogram is for lat', { exitCode: 2 });
  const largest = transport === 'UD' ? mtu : MAX_SIZE;
  const usual = kind === 'lat' ? 2 : Math.min(65536, largest);
  const one = options.size ?? (operation === 'atomic' ? ATOMIC_BYTES : usual);
  if (one > largest)
    throw new Failure(`--size ${one} is too much: a UD message has at most the ${mtu} bytes of the MTU`, {
      exitCode: 2,
    });
  const plan = {
    kind,
    operation,
    transport,
    atomic,
    sizes: options.all ? sweep(largest) : [one],
    iterations: options.iters ?? (kind === 'lat' ? 1000 : 5000),
    depth,
    list: Math.min(options.list, depth),
    bidirectional: options.bidirectional === true,
  };
  checkPlan(plan);
  return plan;
}

function planJson({ kind, operation, transport, atomic, depth, list, bidirectional }: Plan) {
  return {
    kind,
    operation,
    transport,
    ...(operation === 'atomic' && { atomic }),
    ...(kind === 'bw' && { txDepth: depth, list, bidirectional }),
  };
}

/** The names carry the units. */
function json({ histogram }: Options) {
  const round = (value: number) => Math.round(value * 1000) / 1000;
  return (result: LatencyResult | BandwidthResult): unknown => {
    const { bytes, iterations } = result;
    if ('peak' in result) {
      const { peak, average, messageRate, received } = result;
      const rates = { bwPeakMiBps: round(peak), bwAverageMiBps: round(average), msgRateMpps: messageRate };
      return { bytes, iterations, ...rates, ...(received !== undefined && { received }) };
    }
    const times = { tMinUsec: result.min, tMaxUsec: result.max, tTypicalUsec: result.typical, tAvgUsec: result.avg };
    const spread = { tStdevUsec: result.stdev, p99Usec: result.p99, p999Usec: result.p999 };
    const rounded = Object.entries({ ...times, ...spread }).map(([name, value]) => [name, round(value)]);
    return {
      bytes,
      iterations,
      ...(Object.fromEntries(rounded) as Record<string, number>),
      ...(histogram && {
        histogram: result.histogram.map(({ from, to, count }) => ({ fromUsec: round(from), toUsec: round(to), count })),
      }),
    };
  };
}

async function server(kind: Kind, operation: Operation, options: Options, signal: AbortSignal): Promise<void> {
  using context = openDevice(options.device);
  using pd = context.allocPd();
  const listener = await waitAt(options, pd);
  note(
    `waiting for "verbs perf ${kind} ${operation}" on ${options.bind} port ${listener.port}, device ${context.device.name}`,
  );
  const close = () => {
    listener.close();
  };
  signal.addEventListener('abort', close, { once: true });
  if (signal.aborted) close();
  for await (const request of listener) {
    close();
    const plan = await serve(context, request, { kind, operation, signal });
    const sizes = plan.sizes.length === 1 ? `${plan.sizes[0] ?? 0} bytes` : `${plan.sizes.length} sizes`;
    note(`served ${plan.transport} ${operation}, ${plan.iterations} messages of ${sizes}`);
    return;
  }
  signal.throwIfAborted();
}
