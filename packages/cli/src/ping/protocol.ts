import type { Fields } from '@verbs/lib/rendezvous';

/**
 * How two `verbs ping` connect: by `@verbs/core/rendezvous`. The client's private data is an Invitation, the server's is its
 * region: the target of READs, with bytes as `fillPattern` gives them for sequence number 0.
 */
export const MAX_SIZE = 1 << 20;

/** The peer's program replies to a SEND, its NIC alone to a READ. */
export type Operation = 'send' | 'read';

export interface Invitation {
  operation: Operation;
  size: number;
}

export function readInvitation(fields: Fields): Invitation {
  const operation = fields.text('operation');
  if (operation !== 'send' && operation !== 'read')
    throw new Error(`the client asks for "${operation}": send or read is known here`);
  return { operation, size: fields.integer('size', MAX_SIZE) };
}

/** Bytes that differ from one ping to the next, so that a stale reply is noticed. */
export function fillPattern(bytes: Uint8Array, seq: number): void {
  for (let i = 0; i < bytes.length; i++) bytes[i] = seq + i;
}

export function hasPattern(bytes: Uint8Array, seq: number): boolean {
  return bytes.every((byte, i) => byte === ((seq + i) & 0xff));
}
