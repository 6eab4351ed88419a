import { Fields, type SideChannel } from '@verbs/lib/rendezvous';
import { Failure } from '@verbs/lib/failure';

/** A side that gives up says why, so that the other need not guess. */
export function sayFarewell(channel: SideChannel | undefined, error: unknown): void {
  channel?.send({ error: error instanceof Error ? error.message : String(error) });
  channel?.close();
}

/** The better explanation of an error, if the peer left one: a peer that gave up ends its queue pairs as well. */
export function explain(channel: SideChannel | undefined, error: unknown): unknown {
  for (let message = channel?.take(); message !== undefined; message = channel?.take()) {
    const farewell = farewellOf(message);
    if (farewell !== undefined) return farewell;
  }
  if (error === channel?.gone.reason) {
    return new Failure('the peer has gone away', {
      hint: 'see whether its process still runs, then start both sides again',
      cause: error,
    });
  }
  return error;
}

/** The peer's digest, or its farewell as an error. */
export function readDigest(message: unknown): string {
  const farewell = farewellOf(message);
  if (farewell !== undefined) throw farewell;
  const digest = new Fields(message, 'digest').text('sha256', 64);
  if (!/^[0-9a-f]{64}$/.test(digest))
    throw new Failure('the peer sent no SHA-256', { hint: 'do both sides run the same version?' });
  return digest;
}

function farewellOf(message: unknown): Failure | undefined {
  const fields = new Fields(message, 'message');
  if (!fields.has('error')) return undefined;
  return new Failure(`the peer gave up: ${fields.text('error', 4096)}`, {
    hint: 'help it, then start both sides again',
  });
}
