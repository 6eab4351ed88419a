import { openDevice } from '@verbs/core';
import { Listener, type SideChannel } from '@verbs/lib/rendezvous';
import { Failure } from '@verbs/lib/failure';
import { TargetFile } from '@verbs/lib/files';
import { type Counters, deviceCounters } from './counters.js';
import { explain, disconnect } from './peer.js';
import type { Report } from './protocol.js';
import { receiveFile } from './receiver.js';
import type { Settings } from './settings.js';

/** `file-transfer receive FILE`. Calls `onListening` with the TCP port. */
export async function receiveProgram(
  settings: Settings,
  signal: AbortSignal,
  onListening: (port: number) => void,
): Promise<Report & { counters: Counters }> {
  const context = openDevice(settings.device);
  let target: TargetFile | undefined;
  let listener: Listener | undefined;
  let channel: SideChannel | undefined;
  try {
    target = new TargetFile(settings.path);
    listener = await listen(settings);
    onListening(listener.port);
    channel = await listener.accept(signal);
    const report = await receiveFile({ channel, context, target, signal: AbortSignal.any([signal, channel.gone]) });
    const counters = deviceCounters(context);
    if (!report.equal)
      throw new Failure('the digests differ: the file was damaged on its way', { hint: 'send it again' });
    channel.close();
    return { ...report, counters };
  } catch (error) {
    target?.discard();
    const explained = explain(channel, error);
    disconnect(channel, explained);
    throw explained;
  } finally {
    listener?.close();
    context.close();
  }
}

async function listen({ host, port }: Settings): Promise<Listener> {
  try {
    return await Listener.open({ host, port });
  } catch (error) {
    throw new Failure(`cannot listen on ${host} port ${port}: ${(error as Error).message}`, {
      hint: 'another receiver may run already: choose another --port',
      cause: error,
    });
  }
}
