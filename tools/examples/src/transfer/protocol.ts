import {
  type ConnectionAddress,
  type Fields,
  type RemoteRegion,
  connectionAddress,
  regionMessage,
  remoteRegion,
} from '@verbs/lib/rendezvous';

/**
 * How a file moves.
 *
 * 1. The sender dials the receiver's TCP port; both send their UD addresses, and the sender the key if it
 *    encrypts.
 * 2. Over UD the sender asks with an Offer and gets an Acceptance: RC queue pairs, PSNs and the receiver's slots.
 * 3. The file goes in chunks by RDMA WRITE with immediate into the slots, one after the other; the immediate is the
 *    chunk's number. The receiver puts the chunk into its file and gives the slot back by a SEND of its count (a credit).
 * 4. After the last credit both hash their file; the sender sends its SHA-256 over TCP, the receiver compares.
 */
export const CHUNK_BYTES = 1 << 20;
export const SLOTS = 8;
/** A credit is a u32: the number of chunks that the receiver has stored. */
export const CREDIT_BYTES = 4;

export interface Offer {
  size: number;
  chunkBytes: number;
  connection: ConnectionAddress;
}

export interface Acceptance {
  slots: number;
  window: RemoteRegion;
  connection: ConnectionAddress;
}

export function readOffer(fields: Fields): Offer {
  const chunkBytes = fields.integer('chunkBytes', 1 << 24);
  if (chunkBytes === 0) throw new Error("the peer's offer has chunks of 0 bytes");
  return { size: fields.integer('size'), chunkBytes, connection: connectionAddress(fields.object('connection')) };
}

export function acceptanceMessage({ slots, window, connection }: Acceptance): unknown {
  return { slots, window: regionMessage(window), connection };
}

export function readAcceptance(fields: Fields): Acceptance {
  const slots = fields.integer('slots', 1024);
  if (slots === 0) throw new Error('the peer has no slots');
  return {
    slots,
    window: remoteRegion(fields.object('window')),
    connection: connectionAddress(fields.object('connection')),
  };
}

export function chunkCount(size: number, chunkBytes: number): number {
  return Math.ceil(size / chunkBytes);
}

/** The report of one side. */
export interface Report {
  bytes: number;
  /** From before the first read of the file to the last credit; only the sender knows both. */
  seconds?: number;
  sha256: string;
  /** The receiver's: whether its digest is the sender's. */
  equal: boolean;
}
