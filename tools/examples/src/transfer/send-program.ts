import { openDevice } from '@verbs/core';
import { type SideChannel, delayed, dial } from '@verbs/lib/rendezvous';
import { Failure } from '@verbs/lib/failure';
import { ProgressBar, SourceFile } from '@verbs/lib/files';
import { type Counters, deviceCounters } from './counters.js';
import { explain, disconnect } from './peer.js';
import type { Report } from './protocol.js';
import { sendFile } from './sender.js';
import type { Settings } from './settings.js';

/** The NIC's retries report a killed receiver. After this time the closed connection does, if no retry is under way. */
const GRACE_MS = 3000;

/** `file-transfer send FILE` */
export async function sendProgram(settings: Settings, signal: AbortSignal): Promise<Report & { counters: Counters }> {
  const file = SourceFile.open(settings.path);
  const context = openDevice(settings.device);
  let channel: SideChannel | undefined;
  try {
    channel = await dialReceiver(settings, signal);
    const bar = new ProgressBar(settings.label);
    const report = await sendFile({
      channel,
      context,
      file,
      encrypt: settings.encrypt,
      signal: AbortSignal.any([signal, delayed(channel.gone, GRACE_MS)]),
      onProgress: (bytes, total) => {
        bar.update(bytes, total);
      },
    });
    const counters = deviceCounters(context);
    channel.close();
    return { ...report, counters };
  } catch (error) {
    const explained = explain(channel, error);
    disconnect(channel, explained);
    throw explained;
  } finally {
    context.close();
    file.close();
  }
}

async function dialReceiver({ host, port }: Settings, signal: AbortSignal): Promise<SideChannel> {
  try {
    return await dial({ host, port, signal });
  } catch (error) {
    signal.throwIfAborted();
    throw new Failure(`no receiver at ${host} port ${port}: ${(error as Error).message}`, {
      hint: 'start the other side first: file-transfer receive FILE',
      cause: error,
    });
  }
}
