import type { DatagramAddress } from './addresses.js';
import type { DatagramPort } from './datagram-port.js';
import { Fields } from './fields.js';

/** How long to wait for an answer before asking again: a datagram may be lost. */
const REPEAT_MS = 50;

export interface AskOptions {
  /** Ends the waiting, for example AbortSignal.timeout(5000). */
  signal: AbortSignal;
}

/** Asks a peer and waits for its answer; asks again until there is one. */
export async function ask(
  port: DatagramPort,
  peer: DatagramAddress,
  request: unknown,
  { signal }: AskOptions,
): Promise<Fields> {
  const question = () => {
    port.send(peer, { request });
  };
  const repeat = setInterval(question, REPEAT_MS);
  try {
    question();
    for await (const message of port.messages(signal)) {
      const answer = bodyOf(message, 'answer');
      if (answer !== undefined) return answer;
    }
  } finally {
    clearInterval(repeat);
  }
  throw signal.reason;
}

/**
 * Answers a peer's request, and every repetition of it, until the signal is aborted: the peer may not have got the
 * answer. `decide` is called once.
 */
export async function answer(
  port: DatagramPort,
  peer: DatagramAddress,
  decide: (request: Fields) => unknown,
  signal: AbortSignal,
): Promise<void> {
  let answered: unknown;
  for await (const message of port.messages(signal)) {
    const request = bodyOf(message, 'request');
    if (request === undefined) continue;
    answered ??= decide(request);
    port.send(peer, { answer: answered });
  }
}

function bodyOf(message: unknown, kind: 'request' | 'answer'): Fields | undefined {
  if (typeof message !== 'object' || message === null || !(kind in message)) return undefined;
  return new Fields((message as Record<string, unknown>)[kind], kind);
}
