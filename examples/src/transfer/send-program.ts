import { randomUUID } from 'node:crypto';
import { openDevice, type ProtectionDomain } from '@verbs/core';
import { type Connection, dial } from '@verbs/core/rendezvous';
import { Conversation } from '@verbs/lib/rendezvous';
import { Failure } from '@verbs/lib/failure';
import { ProgressBar, SourceFile } from '@verbs/lib/files';
import { type Counters, deviceCounters } from './counters.js';
import { explain, disconnect } from './peer.js';
import type { Report } from './protocol.js';
import { sendFile } from './sender.js';
import type { Settings } from './settings.js';

/** `file-transfer send FILE` */
export async function sendProgram(settings: Settings, signal: AbortSignal): Promise<Report & { counters: Counters }> {
  const file = SourceFile.open(settings.path);
  const context = openDevice(settings.device);
  const pd = context.allocPd();
  const transfer = randomUUID();
  let conversation: Conversation | undefined;
  try {
    conversation = new Conversation(await dialReceiver(settings, { pd, transfer, signal }));
    const bar = new ProgressBar(settings.label);
    const report = await sendFile({
      conversation,
      to: settings,
      transfer,
      pd,
      file,
      encrypt: settings.encrypt,
      signal: AbortSignal.any([signal, conversation.gone]),
      onProgress: (bytes, total) => {
        bar.update(bytes, total);
      },
    });
    const counters = deviceCounters(context);
    await conversation.close();
    return { ...report, counters };
  } catch (error) {
    const explained = explain(conversation, error);
    await disconnect(conversation, explained);
    throw explained;
  } finally {
    context.close();
    file.close();
  }
}

async function dialReceiver(
  { host, port }: Settings,
  { pd, transfer, signal }: { pd: ProtectionDomain; transfer: string; signal: AbortSignal },
): Promise<Connection> {
  try {
    return await dial({ host, port, pd, receive: {}, privateData: { transfer }, signal });
  } catch (error) {
    signal.throwIfAborted();
    const { code, privateData } = error as { code?: string; privateData?: { error?: unknown } };
    if (code === 'REJECTED' && typeof privateData?.error === 'string')
      throw new Failure(`the receiver refuses: ${privateData.error}`, { hint: 'try again later', cause: error });
    throw new Failure(`no receiver at ${host} port ${port}: ${(error as Error).message}`, {
      hint: 'start the other side first: file-transfer receive FILE',
      cause: error,
    });
  }
}
