import { lookup } from 'node:dns/promises';
import type { Context } from '@verbs/core';
import { type Connection, dial } from '@verbs/core/rendezvous';
import { Conversation, Fields } from '@verbs/lib/rendezvous';
import { Failure, messageOf } from '@verbs/lib/failure';
import { refusal } from '../refusal.js';
import { BandwidthSource } from './bandwidth.js';
import { End, type Peer, readPeer } from './end.js';
import { LatencyEnd } from './latency.js';
import { phases, type Plan, planMessage } from './plan.js';
import { Spinner } from './spin.js';
import { histogram, latency } from './statistics.js';
import type { BandwidthResult, LatencyResult } from './table.js';

const MIB = 1 << 20;

export interface ClientOptions {
  host: string;
  port: number;
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

/** Measures with a server. */
export async function measure(context: Context, options: ClientOptions, events: ClientEvents): Promise<void> {
  // Of a name that is not known dial() tells.
  const address = await lookup(options.host).then(
    (found) => found.address,
    () => options.host,
  );
  using end = new End(context, options.plan, address);
  const connection = await meet(end, options);
  const conversation = new Conversation(connection);
  try {
    const peer = readPeer(connection.privateData);
    end.join(peer);
    events.onPeer(peer);
    await converse(end, conversation, options, events);
  } finally {
    await conversation.close();
  }
}

/** The connection, whose private data is the server's end. */
async function meet(end: End, options: ClientOptions): Promise<Connection> {
  const { host, port, plan, timeoutMs, signal } = options;
  const privateData = { plan: planMessage(plan), end: end.message };
  // The server makes its end meanwhile.
  const timeout = Math.max(10_000, timeoutMs);
  try {
    return await dial({ host, port, pd: end.pd, receive: {}, privateData, timeout, signal });
  } catch (error) {
    signal.throwIfAborted();
    const { kind, operation } = plan;
    throw (
      refusal(error) ??
      new Failure(`no "verbs perf ${kind} ${operation}" at ${host} port ${port}: ${messageOf(error)}`, {
        hint: 'start it there, without an address; on another machine with --bind ADDRESS',
        cause: error,
      })
    );
  }
}

async function converse(
  end: End,
  conversation: Conversation,
  options: ClientOptions,
  events: ClientEvents,
): Promise<void> {
  const { plan, signal } = options;
  const gone = AbortSignal.any([signal, conversation.gone]);
  const ask = async (message: unknown, what: string): Promise<Fields> => {
    conversation.send(message);
    return new Fields(await abortable(conversation.receive(), gone), what);
  };
  const spinner = new Spinner(end.cq, 64, () => {
    signal.throwIfAborted();
    if (conversation.gone.aborted) throw new Failure('the server has gone away');
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
