import { openDevice, type ProtectionDomain } from '@verbs/core';
import { listen, type Request, type Server } from '@verbs/core/rendezvous';
import { Conversation } from '@verbs/lib/rendezvous';
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
  const pd = context.allocPd();
  let target: TargetFile | undefined;
  let server: Server | undefined;
  let conversation: Conversation | undefined;
  try {
    target = new TargetFile(settings.path);
    server = await waitAt(settings, pd);
    onListening(server.port);
    const first = await nextRequest(server, signal);
    conversation = new Conversation(await first.accept({ receive: {}, signal }));
    const together = AbortSignal.any([signal, conversation.gone]);
    const request = await nextRequest(server, together, transferOf(first));
    server.close();
    const report = await receiveFile({ conversation, request, pd, target, signal: together });
    const counters = deviceCounters(context);
    if (!report.equal)
      throw new Failure('the digests differ: the file was damaged on its way', { hint: 'send it again' });
    await conversation.close();
    return { ...report, counters };
  } catch (error) {
    target?.discard();
    const explained = explain(conversation, error);
    await disconnect(conversation, explained);
    throw explained;
  } finally {
    server?.close();
    context.close();
  }
}

async function waitAt({ host, port }: Settings, pd: ProtectionDomain): Promise<Server> {
  try {
    return await listen({ host, port, pd });
  } catch (error) {
    throw new Failure(`cannot listen on ${host} port ${port}: ${(error as Error).message}`, {
      hint: 'another receiver may run already: choose another --port',
      cause: error,
    });
  }
}

/** The next request, of that transfer if one is under way. Other senders are turned away. */
async function nextRequest(server: Server, signal: AbortSignal, transfer?: unknown): Promise<Request> {
  const close = () => {
    server.close();
  };
  if (signal.aborted) close();
  signal.addEventListener('abort', close, { once: true });
  try {
    for await (const request of server) {
      if (transfer === undefined || transferOf(request) === transfer) return request;
      request.reject({ privateData: { error: 'another sender is at work' } });
    }
  } finally {
    signal.removeEventListener('abort', close);
  }
  throw signal.reason;
}

function transferOf({ privateData }: Request): unknown {
  return (privateData as { transfer?: unknown } | null | undefined)?.transfer ?? null;
}
