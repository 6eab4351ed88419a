import type { DatagramAddress } from './addresses.js';
import type { DatagramPort } from './datagram-port.js';
import { Fields } from './fields.js';

/** Time without a response after which a request is sent again: a datagram may be lost. */
const RETRANSMIT_MS = 50;

export interface RequestOptions {
  /** Ends the waiting, for example AbortSignal.timeout(5000). */
  signal: AbortSignal;
}

/** Sends a request to a peer, again and again until its response arrives, and resolves with the response. */
export async function request(
  port: DatagramPort,
  peer: DatagramAddress,
  body: unknown,
  { signal }: RequestOptions,
): Promise<Fields> {
  const send = () => {
    port.send(peer, { request: body });
  };
  const timer = setInterval(send, RETRANSMIT_MS);
  try {
    send();
    for await (const message of port.messages(signal)) {
      const response = bodyOf(message, 'response');
      if (response !== undefined) return response;
    }
  } finally {
    clearInterval(timer);
  }
  throw signal.reason;
}

/**
 * Responds to a peer's request, and to every duplicate of it, until the signal is aborted: the response may have been
 * lost. `decide` is called once.
 */
export async function respond(
  port: DatagramPort,
  peer: DatagramAddress,
  decide: (request: Fields) => unknown,
  signal: AbortSignal,
): Promise<void> {
  let response: unknown;
  for await (const message of port.messages(signal)) {
    const body = bodyOf(message, 'request');
    if (body === undefined) continue;
    response ??= decide(body);
    port.send(peer, { response });
  }
}

function bodyOf(message: unknown, kind: 'request' | 'response'): Fields | undefined {
  if (typeof message !== 'object' || message === null || !(kind in message)) return undefined;
  return new Fields((message as Record<string, unknown>)[kind], kind);
}
