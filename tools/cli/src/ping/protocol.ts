import {
  type ConnectionAddress,
  type Fields,
  type RemoteRegion,
  connectionAddress,
  regionMessage,
  remoteRegion,
} from '@verbs/lib/rendezvous';

/**
 * How two `verbs ping` connect. They exchange their UD addresses over TCP. Over UD the client requests a connection with
 * an Invitation and the server responds with a Welcome. The pings use RC.
 */
export const MAX_SIZE = 1 << 20;

/** The peer's program replies to a SEND, its NIC alone to a READ. */
export type Operation = 'send' | 'read';

export interface Invitation {
  operation: Operation;
  size: number;
  connection: ConnectionAddress;
}

export interface Welcome {
  connection: ConnectionAddress;
  /** The target of READs: bytes as `fillPattern` gives them for sequence number 0. */
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

/** Bytes that differ from one ping to the next, so that a stale reply is noticed. */
export function fillPattern(bytes: Uint8Array, seq: number): void {
  for (let i = 0; i < bytes.length; i++) bytes[i] = seq + i;
}

export function hasPattern(bytes: Uint8Array, seq: number): boolean {
  return bytes.every((byte, i) => byte === ((seq + i) & 0xff));
}
