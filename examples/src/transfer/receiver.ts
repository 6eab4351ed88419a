import type { ProtectionDomain } from '@verbs/core';
import type { Request } from '@verbs/core/rendezvous';
import { type Conversation, Fields } from '@verbs/lib/rendezvous';
import type { TargetFile } from '@verbs/lib/files';
import { ChunkCipher } from './chunk-cipher.js';
import { ChunkReceiver } from './chunk-receiver.js';
import { sha256OfFile } from './digest.js';
import { readDigest } from './peer.js';
import { type Report, readOffer } from './protocol.js';

export interface ReceiveOptions {
  conversation: Conversation;
  /** The sender's request for the connection that the file takes. */
  request: Request;
  pd: ProtectionDomain;
  target: TargetFile;
  signal: AbortSignal;
}

/** Receives a file from the sender at the other end of the conversation. */
export async function receiveFile(options: ReceiveOptions): Promise<Report> {
  const { conversation, request, pd, target, signal } = options;
  const fields = new Fields(request.privateData, 'offer');
  const offer = readOffer(fields);
  const cipher = fields.has('cipher') ? ChunkCipher.read(fields.object('cipher')) : undefined;
  const receiver = new ChunkReceiver(pd, offer, cipher);
  const connection = await receiver.accept(request, signal);
  try {
    await receiver.receive(connection, target, signal);
    target.close();
    const sha256 = await sha256OfFile(target.path);
    const theirs = readDigest(await conversation.receive());
    conversation.send({ sha256 });
    return { bytes: offer.size, sha256, equal: theirs === sha256 };
  } finally {
    connection.close();
  }
}
