import type { Context } from '@verbs/core';
import { DatagramPort, type Fields, type SideChannel, respond, datagramAddress } from '@verbs/lib/rendezvous';
import type { TargetFile } from '@verbs/lib/files';
import { ChunkCipher } from './chunk-cipher.js';
import { ChunkReceiver } from './chunk-receiver.js';
import { sha256OfFile } from './digest.js';
import { type Report, SLOTS, acceptanceMessage, readOffer } from './protocol.js';
import { readDigest } from './peer.js';

export interface ReceiveOptions {
  channel: SideChannel;
  context: Context;
  target: TargetFile;
  signal: AbortSignal;
}

/** Receives a file from the sender at the other end of the side channel. */
export async function receiveFile({ channel, context, target, signal }: ReceiveOptions): Promise<Report> {
  using pd = context.allocPd();
  using datagrams = new DatagramPort(context, pd);
  channel.send(datagrams.address);
  const peer = datagramAddress(await channel.receive());
  const key = await channel.receive();
  const cipher = key === null ? undefined : ChunkCipher.read(key);
  const done = new AbortController();
  try {
    let size = 0;
    const transfer = new Promise<void>((resolve, reject) => {
      const decide = (request: Fields): unknown => {
        const offer = readOffer(request);
        size = offer.size;
        const receiver = new ChunkReceiver(context, pd, offer, cipher);
        receiver.receive(target, signal).then(resolve, reject);
        return acceptanceMessage({
          slots: SLOTS,
          window: receiver.window,
          connection: receiver.endpoint.address,
        });
      };
      // The response may be lost and the request sent again, so this continues during the transfer.
      respond(datagrams, peer, decide, AbortSignal.any([signal, done.signal])).catch(reject);
    });
    await transfer;
    target.close();
    const sha256 = await sha256OfFile(target.path);
    const theirs = readDigest(await channel.receive());
    channel.send({ sha256 });
    return { bytes: size, sha256, equal: theirs === sha256 };
  } finally {
    done.abort();
  }
}
