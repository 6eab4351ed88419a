import type { Context } from '@verbs/core';
import { Fields, type SideChannel } from '@verbs/lib/rendezvous';
import { Failure, messageOf } from '@verbs/lib/failure';
import { BandwidthSource, BandwidthTarget } from './bandwidth.js';
import { abortable } from './client.js';
import { End, readPeer } from './end.js';
import { LatencyEnd } from './latency.js';
import { type Kind, type Operation, phases, type Plan, readPlan } from './plan.js';
import { Spinner } from './spin.js';

/** The client has a time limit of its own. */
const PATIENCE_MS = 60_000;

export interface ServerOptions {
  kind: Kind;
  operation: Operation;
  signal: AbortSignal;
}

/** Serves the client at the other end of the side channel. Returns the client's plan. */
export async function serve(context: Context, channel: SideChannel, options: ServerOptions): Promise<Plan> {
  const signal = AbortSignal.any([options.signal, channel.gone]);
  const first = new Fields(await abortable(channel.receive(), signal), 'request');
  const { plan, end } = refuseAloud(channel, () => agree(context, first, options));
  using mine = end;
  const spinner = new Spinner(mine.cq, 16, () => {
    signal.throwIfAborted();
  });
  const serveSize = sizeServer(mine, spinner);
  channel.send({ end: mine.message });
  for (const { bytes, count } of phases(plan)) {
    await nextMessage(channel, signal, 'begin', bytes);
    let last: unknown;
    const over = () => {
      last ??= channel.poll();
      return last !== undefined;
    };
    const account = await serveSize({ bytes, count, over }, () => {
      channel.send({ ready: bytes });
    });
    if (new Fields(last, 'end of a size').integer('end') !== bytes) throw new Error('the client ended another size');
    channel.send(account);
  }
  // The client has received the last result when it disconnects.
  await gone(signal);
  return plan;
}

interface Size {
  bytes: number;
  count: number;
  /** The client has reported its end. */
  over: () => boolean;
}

/** What the server tells of a size: messages that it received, its own rates in messages per 1000 seconds. */
interface Account {
  received: number;
  average?: number;
  peak?: number;
}

type ServeSize = (size: Size, ready: () => void) => Promise<Account>;

function sizeServer(end: End, spinner: Spinner): ServeSize {
  if (end.plan.kind === 'lat') return latencyServer(end, spinner);
  return end.plan.bidirectional ? bidirectionalServer(end, spinner) : bandwidthServer(end, spinner);
}

function latencyServer(end: End, spinner: Spinner): ServeSize {
  const turns = new LatencyEnd(end, spinner);
  return async ({ bytes, count, over }, ready) => {
    turns.begin(bytes);
    ready();
    await turns.answer(count, over);
    await spinner.pollUntil(over, () => undefined);
    return { received: 0 };
  };
}

function bandwidthServer(end: End, spinner: Spinner): ServeSize {
  const target = new BandwidthTarget(end, spinner);
  return async ({ over }, ready) => {
    ready();
    return { received: await target.receive(over) };
  };
}

/** Posts as the client does, at the same time. */
function bidirectionalServer(end: End, spinner: Spinner): ServeSize {
  const source = new BandwidthSource(end, spinner);
  return async ({ bytes, count, over }, ready) => {
    source.begin(bytes);
    ready();
    const progress = await source.measure(count, PATIENCE_MS);
    const { average, peak } = progress.rates(Math.min(end.plan.depth, count));
    await spinner.pollUntil(over, () => undefined);
    return { received: 0, average: Math.round(average * 1000), peak: Math.round(peak * 1000) };
  };
}

/** The queue pair that the client's request asks for. */
function agree(context: Context, request: Fields, { kind, operation }: ServerOptions): { plan: Plan; end: End } {
  const plan = readPlan(request.object('plan'));
  if (plan.kind !== kind || plan.operation !== operation)
    throw new Failure(`"verbs perf ${kind} ${operation}" runs here, not ${plan.kind} ${plan.operation}`);
  const peer = readPeer(request.object('end'));
  const end = new End(context, plan);
  end.join(peer);
  return { plan, end };
}

/** Reports the error to the client too. */
function refuseAloud<T>(channel: SideChannel, decide: () => T): T {
  try {
    return decide();
  } catch (error) {
    channel.send({ error: messageOf(error).slice(0, 250) });
    throw error;
  }
}

async function nextMessage(channel: SideChannel, signal: AbortSignal, name: string, bytes: number): Promise<void> {
  const message = new Fields(await abortable(channel.receive(), signal), `request to ${name}`);
  if (message.integer(name) !== bytes) throw new Error(`the client is about another size than ${bytes} bytes`);
}

async function gone(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => {
      resolve();
    });
  });
}
