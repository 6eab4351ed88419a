import type { Context } from '@verbs/core';
import { DatagramPort, type SideChannel, request, datagramAddress } from '@verbs/lib/rendezvous';
import { Failure } from '@verbs/lib/failure';
import type { SourceFile } from '@verbs/lib/files';
import { ChunkCipher } from './chunk-cipher.js';
import { ChunkSender, type Progress } from './chunk-sender.js';
import { sha256OfFile } from './digest.js';
import { type Acceptance, CHUNK_BYTES, type Offer, type Report, readAcceptance } from './protocol.js';
import { readDigest } from './peer.js';

export interface SendOptions {
  channel: SideChannel;
  context: Context;
  file: SourceFile;
  /** Whether the file's bytes are hidden on the wire. */
  encrypt: boolean;
  signal: AbortSignal;
  onProgress: Progress;
}

const RESPONSE_MS = 10_000;

/** Sends a file to the receiver at the other end of the side channel. */
export async function sendFile({ channel, context, file, encrypt, signal, onProgress }: SendOptions): Promise<Report> {
  using pd = context.allocPd();
  const cipher = encrypt ? ChunkCipher.create() : undefined;
  const sender = new ChunkSender(context, pd, cipher);
  const offer: Offer = { size: file.size, chunkBytes: CHUNK_BYTES, connection: sender.endpoint.address };
  using datagrams = new DatagramPort(context, pd);
  const acceptance = await exchange(channel, datagrams, { offer, cipher }, signal);
  const seconds = await sender.send(file, acceptance, signal, onProgress);
  // The digests prove the transfer and are not part of its time.
  const sha256 = await sha256OfFile(file.path);
  channel.send({ sha256 });
  const theirs = readDigest(await channel.receive());
  return { bytes: file.size, seconds, sha256, equal: theirs === sha256 };
}

async function exchange(
  channel: SideChannel,
  port: DatagramPort,
  { offer, cipher }: { offer: Offer; cipher: ChunkCipher | undefined },
  signal: AbortSignal,
): Promise<Acceptance> {
  channel.send(port.address);
  const peer = datagramAddress(await channel.receive());
  channel.send(cipher?.message ?? null);
  const timeout = AbortSignal.timeout(RESPONSE_MS);
  try {
    return readAcceptance(await request(port, peer, offer, { signal: AbortSignal.any([signal, timeout]) }));
  } catch (error) {
    if (!timeout.aborted) throw error;
    throw new Failure(`the receiver at ${peer.gid} does not respond to datagrams`, {
      hint: 'can UDP packets to port 4791 reach it? "verbs doctor" on both sides tells more',
      cause: error,
    });
  }
}
