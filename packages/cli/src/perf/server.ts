import type { Context } from '@verbs/core';
import type { Request } from '@verbs/core/rendezvous';
import { Conversation, Fields } from '@verbs/lib/rendezvous';
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

/** Serves a client. Returns its plan. */
export async function serve(context: Context, request: Request, options: ServerOptions): Promise<Plan> {
  using end = refuseAloud(request, () => agree(context, request, options));
  const { signal } = options;
  const privateData = end.message;
  const conversation = new Conversation(
    await request.accept({ pd: end.pd, receive: {}, privateData, timeout: PATIENCE_MS, signal }),
  );
  try {
    await converse(end, conversation, AbortSignal.any([signal, conversation.gone]));
  } finally {
    await conversation.close();
  }
  return end.plan;
}

async function converse(end: End, conversation: Conversation, signal: AbortSignal): Promise<void> {
  const spinner = new Spinner(end.cq, 16, () => {
    signal.throwIfAborted();
  });
  const serveSize = sizeServer(end, spinner);
  for (const { bytes, count } of phases(end.plan)) {
    await nextMessage(conversation, signal, 'begin', bytes);
    let last: unknown;
    const over = () => {
      last ??= conversation.poll();
      return last !== undefined;
    };
    const account = await serveSize({ bytes, count, over }, () => {
      conversation.send({ ready: bytes });
    });
    if (new Fields(last, 'end of a size').integer('end') !== bytes) throw new Error('the client ended another size');
    conversation.send(account);
  }
  // The client has received the last result when it disconnects.
  await gone(signal);
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
function agree(context: Context, { privateData, remoteAddress }: Request, { kind, operation }: ServerOptions): End {
  const plan = readPlan(new Fields(privateData, 'request').object('plan'));
  if (plan.kind !== kind || plan.operation !== operation)
    throw new Failure(`"verbs perf ${kind} ${operation}" runs here, not ${plan.kind} ${plan.operation}`);
  const peer = readPeer((privateData as { end?: unknown }).end);
  const end = new End(context, plan, remoteAddress);
  try {
    end.join(peer);
    return end;
  } catch (error) {
    end[Symbol.dispose]();
    throw error;
  }
}

/** Reports the error to the client too. */
function refuseAloud<T>(request: Request, decide: () => T): T {
  try {
    return decide();
  } catch (error) {
    request.reject({ privateData: { error: messageOf(error).slice(0, 250) } });
    throw error;
  }
}

async function nextMessage(
  conversation: Conversation,
  signal: AbortSignal,
  name: string,
  bytes: number,
): Promise<void> {
  const message = new Fields(await abortable(conversation.receive(), signal), `request to ${name}`);
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
