import type { MemoryRegion } from '@verbs/core';
import { type Fields, type RemoteRegion, remoteRegion } from '@verbs/lib/rendezvous';

/**
 * How a file moves.
 *
 * 1. The sender dials the receiver twice: a connection for what the two tell each other, then one for the file. The
 *    request for the second carries the Offer, its acceptance the receiver's slots.
 * 2. The file goes in chunks by RDMA WRITE with immediate into the slots, one after the other; the immediate is the
 *    chunk's number. The receiver puts the chunk into its file and gives the slot back by a SEND of its count (a credit).
 * 3. After the last credit both hash their file, exchange the SHA-256 over the first connection and compare.
 */
export const CHUNK_BYTES = 1 << 20;
export const SLOTS = 8;
/** A credit is a u32: the number of chunks that the receiver has stored. */
export const CREDIT_BYTES = 4;

/** Where the receiver waits. */
export interface Target {
  host: string;
  port: number;
}

export interface Offer {
  size: number;
  chunkBytes: number;
}

export interface Acceptance {
  slots: number;
  window: RemoteRegion;
}

export function readOffer(fields: Fields): Offer {
  const chunkBytes = fields.integer('chunkBytes', 1 << 24);
  if (chunkBytes === 0) throw new Error("the peer's offer has chunks of 0 bytes");
  return { size: fields.integer('size'), chunkBytes };
}

export function acceptanceMessage(window: MemoryRegion): unknown {
  return { slots: SLOTS, window: window.remote() };
}

export function readAcceptance(fields: Fields): Acceptance {
  const slots = fields.integer('slots', 1024);
  if (slots === 0) throw new Error('the peer has no slots');
  return { slots, window: remoteRegion(fields.object('window')) };
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
