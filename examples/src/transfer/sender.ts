import type { ProtectionDomain } from '@verbs/core';
import { type Conversation, Fields } from '@verbs/lib/rendezvous';
import type { SourceFile } from '@verbs/lib/files';
import { ChunkCipher } from './chunk-cipher.js';
import { ChunkSender, type Progress } from './chunk-sender.js';
import { sha256OfFile } from './digest.js';
import { readDigest } from './peer.js';
import { CHUNK_BYTES, type Report, readAcceptance, type Target } from './protocol.js';

export interface SendOptions {
  conversation: Conversation;
  to: Target;
  /** Which transfer the connection for the file belongs to. */
  transfer: string;
  pd: ProtectionDomain;
  file: SourceFile;
  /** Whether the file's bytes are hidden on the wire. */
  encrypt: boolean;
  signal: AbortSignal;
  onProgress: Progress;
}

/** Sends a file to the receiver at the other end of the conversation. */
export async function sendFile(options: SendOptions): Promise<Report> {
  const { conversation, to, transfer, pd, file, encrypt, signal, onProgress } = options;
  const cipher = encrypt ? ChunkCipher.create() : undefined;
  const sender = new ChunkSender(pd, cipher);
  const offer = { transfer, size: file.size, chunkBytes: CHUNK_BYTES, cipher: cipher?.message };
  const connection = await sender.dial(to, offer, signal);
  try {
    const acceptance = readAcceptance(new Fields(connection.privateData, 'acceptance'));
    const seconds = await sender.send(connection, file, acceptance, { signal, onProgress });
    // The digests prove the transfer and are not part of its time.
    const sha256 = await sha256OfFile(file.path);
    conversation.send({ sha256 });
    const theirs = readDigest(await conversation.receive());
    return { bytes: file.size, seconds, sha256, equal: theirs === sha256 };
  } finally {
    connection.close();
  }
}
