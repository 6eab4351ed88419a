import {
  type ConnectionAddress,
  type Fields,
  type RemoteRegion,
  connectionAddress,
  regionMessage,
  remoteRegion,
} from '@verbs/lib/rendezvous';

/**
 * How two `verbs ping` meet. Over TCP they tell each other their UD addresses; over UD datagrams the client asks with
 * an Invitation and gets a Welcome; the pings themselves go over RC.
 */
export const MAX_SIZE = 1 << 20;

/** SEND is answered by the peer's program, READ by its NIC alone. */
export type Operation = 'send' | 'read';

export interface Invitation {
  operation: Operation;
  size: number;
  connection: ConnectionAddress;
}

export interface Welcome {
  connection: ConnectionAddress;
  /** What a READ reads: bytes as `fillPattern` gives them for sequence number 0. */
  region: RemoteRegion;
}

export function readInvitation(fields: Fields): Invitation {
  const operation = fields.text('operation');
  if (operation !== 'send' && operation !== 'read')
    throw new Error(`the client asks for "${operation}": send or read is known here`);
  const size = fields.integer('size', MAX_SIZE);
  return { operation, size, connection: connectionAddress(fields.object('connection')) };
}

export function welcomeMessage({ connection, region }: Welcome): unknown {
  return { connection, region: regionMessage(region) };
}

export function readWelcome(fields: Fields): Welcome {
  return { connection: connectionAddress(fields.object('connection')), region: remoteRegion(fields.object('region')) };
}

/** Bytes that differ from one ping to the next, so that a stale answer is not taken for a new one. */
export function fillPattern(bytes: Uint8Array, seq: number): void {
  for (let i = 0; i < bytes.length; i++) bytes[i] = seq + i;
}

export function hasPattern(bytes: Uint8Array, seq: number): boolean {
  return bytes.every((byte, i) => byte === ((seq + i) & 0xff));
}
