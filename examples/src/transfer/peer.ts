import { type Conversation, Fields } from '@verbs/lib/rendezvous';
import { Failure } from '@verbs/lib/failure';

/** Tells the peer the reason, and closes the connection. */
export async function disconnect(conversation: Conversation | undefined, error: unknown): Promise<void> {
  const reason = error instanceof Error ? error.message : String(error);
  conversation?.send({ error: reason.slice(0, 1000) });
  await conversation?.close();
}

/** The peer's own reason for an error, if it sent one: a peer that gives up closes its queue pairs too. */
export function explain(conversation: Conversation | undefined, error: unknown): unknown {
  for (let message = conversation?.poll(); message !== undefined; message = conversation?.poll()) {
    const reason = disconnectReason(message);
    if (reason !== undefined) return reason;
  }
  if (error === conversation?.gone.reason) {
    return new Failure('the peer has gone away', {
      hint: 'see whether its process still runs, then start both sides again',
      cause: error,
    });
  }
  return error;
}

/** The peer's digest. @throws Failure with the reason of its disconnect message */
export function readDigest(message: unknown): string {
  const reason = disconnectReason(message);
  if (reason !== undefined) throw reason;
  const digest = new Fields(message, 'digest').text('sha256', 64);
  if (!/^[0-9a-f]{64}$/.test(digest))
    throw new Failure('the peer sent no SHA-256', { hint: 'do both sides run the same version?' });
  return digest;
}

function disconnectReason(message: unknown): Failure | undefined {
  const fields = new Fields(message, 'message');
  if (!fields.has('error')) return undefined;
  return new Failure(`the peer gave up: ${fields.text('error', 4096)}`, {
    hint: 'remove the cause, then start both sides again',
  });
}
