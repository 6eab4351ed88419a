import type { Api } from '@verbs/doca-comm';
import { type Client, connectTo, sendFile } from '@verbs/lib/comm';
import { ProgressBar } from '@verbs/lib/files';
import { lineOf } from '@verbs/lib/text';
import { note, print, printJson } from '../output.js';
import { plural } from '../text.js';
import { talk } from './connect.js';
import { noTraffic, trafficText } from './traffic.js';

/** The options of `verbs comm connect`. */
export interface ClientOptions {
  device?: string;
  api?: Api;
  file?: string;
  wait: number;
  json?: boolean;
}

/** Sends the lines of standard input or a file, and prints what comes back. */
export async function client(name: string, options: ClientOptions, signal: AbortSignal): Promise<void> {
  using connected = await connectTo(name, signal, options.device, options.api);
  if (options.file === undefined) await lines(name, connected, options, signal);
  else await file(name, connected, options.file, options, signal);
}

async function lines(name: string, connected: Client, options: ClientOptions, signal: AbortSignal): Promise<void> {
  const { endpoint, device } = connected;
  const show = options.json ? note : print;
  const traffic = noTraffic();
  await talk(endpoint, { waitMs: options.wait * 1000, signal, traffic }, (message) => {
    show(lineOf(message));
  }).finally(() => {
    if (options.json) printJson({ service: name, device, ...traffic });
    else note(trafficText(traffic));
  });
}

async function file(
  name: string,
  { endpoint, device, peer }: Client,
  path: string,
  { json }: ClientOptions,
  signal: AbortSignal,
): Promise<void> {
  const bar = new ProgressBar(name);
  const show = json ? note : print;
  const sent = await sendFile(endpoint, path, {
    signal,
    onProgress: (bytes, total) => {
      bar.update(bytes, total);
    },
    onMessage: (message) => {
      show(lineOf(message));
    },
  });
  const { sendMessages, sendBytes, recvMessages, recvBytes } = peer.stats();
  const traffic = {
    sentMessages: Number(sendMessages),
    sentBytes: Number(sendBytes),
    receivedMessages: Number(recvMessages),
    receivedBytes: Number(recvBytes),
  };
  if (json) printJson({ service: name, device, ...traffic, file: { path, ...sent } });
  else
    print(
      `${plural(sent.bytes, 'byte')} in ${sent.seconds.toFixed(3)} s, SHA-256 ${sent.sha256}, the same at the service`,
    );
}
