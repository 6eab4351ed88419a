import type { Context } from '@verbs/core';
import { Fields, type SideChannel } from '@verbs/lib/rendezvous';
import { Failure } from '@verbs/lib/failure';
import { BandwidthSource } from './bandwidth.js';
import { End, type Peer, readPeer } from './end.js';
import { LatencyEnd } from './latency.js';
import { phases, type Plan, planMessage } from './plan.js';
import { Spinner } from './spin.js';
import { histogram, latency } from './statistics.js';
import type { BandwidthResult, LatencyResult } from './table.js';

const MIB = 1 << 20;

export interface ClientOptions {
  plan: Plan;
  timeoutMs: number;
  signal: AbortSignal;
}

/** Progress reports. */
export interface ClientEvents {
  onPeer(peer: Peer): void;
  onSize(bytes: number): void;
  onLatency(result: LatencyResult): void;
  onBandwidth(result: BandwidthResult): void;
}

/** Measures with the server at the other end of the side channel. */
export async function measure(
  context: Context,
  channel: SideChannel,
  options: ClientOptions,
  events: ClientEvents,
): Promise<void> {
  const { plan, signal } = options;
  using end = new End(context, plan);
  const gone = AbortSignal.any([signal, channel.gone]);
  const ask = async (message: unknown, what: string): Promise<Fields> => {
    channel.send(message);
    const answer = new Fields(await abortable(channel.receive(), gone), what);
    if (answer.has('error')) throw new Failure(`the server refuses: ${answer.text('error')}`);
    return answer;
  };
  const answer = await ask({ plan: planMessage(plan), end: end.message }, 'answer');
  const peer = readPeer(answer.object('end'));
  end.join(peer);
  events.onPeer(peer);
  const spinner = new Spinner(end.cq, 64, () => {
    signal.throwIfAborted();
    if (channel.gone.aborted) throw new Failure('the server has gone away');
  });
  const run = plan.kind === 'lat' ? latencyRun(end, spinner, options) : bandwidthRun(end, spinner, options);
  for (const { bytes, count, measured } of phases(plan)) {
    if (!measured) events.onSize(bytes);
    run.begin(bytes);
    await ask({ begin: bytes }, 'answer to a new size');
    const report = await run.measure(bytes, count);
    const account = await ask({ end: bytes }, 'account');
    if (measured) report(events, account);
  }
}

type Report = (events: ClientEvents, account: Fields) => void;

interface Run {
  begin(bytes: number): void;
  measure(bytes: number, count: number): Promise<Report>;
}

function latencyRun(end: End, spinner: Spinner, { timeoutMs }: ClientOptions): Run {
  const turns = new LatencyEnd(end, spinner);
  return {
    begin: (bytes) => {
      turns.begin(bytes);
    },
    measure: async (bytes, iterations) => {
      const times = await turns.measure(iterations, timeoutMs);
      return (events) => {
        events.onLatency({ bytes, iterations, ...latency(times), histogram: histogram(times) });
      };
    },
  };
}

function bandwidthRun(end: End, spinner: Spinner, { plan, timeoutMs }: ClientOptions): Run {
  const source = new BandwidthSource(end, spinner);
  return {
    begin: (bytes) => {
      source.begin(bytes);
    },
    measure: async (bytes, iterations) => {
      const progress = await source.measure(iterations, timeoutMs);
      const own = progress.rates(Math.min(plan.depth, iterations));
      return (events, account) => {
        // As perftest: the sum of both directions. Each end knows the time that its own messages took.
        const other = (name: string) => (plan.bidirectional ? account.integer(name) / 1000 : 0);
        const average = own.average + other('average');
        const peak = own.peak + other('peak');
        events.onBandwidth({
          bytes,
          iterations,
          peak: (peak * bytes) / MIB,
          average: (average * bytes) / MIB,
          messageRate: average / 1e6,
          received: plan.operation === 'send' ? account.integer('received') : undefined,
        });
      };
    },
  };
}

/** The promise's value, or a rejection as soon as the signal is aborted. */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  return await new Promise<T>((resolve, reject) => {
    const aborted = () => {
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', aborted, { once: true });
    promise.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', aborted);
    });
  });
}
