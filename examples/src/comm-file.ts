// The two sides of the demo's chapter, each a process of its own: comm-file.mjs dpu SERVICE | host SERVICE FILE
import { connectTo, FileReceiver, sendFile, serviceFor } from '@verbs/lib/comm';
import { Failure } from '@verbs/lib/failure';
import { ProgressBar } from '@verbs/lib/files';

const [role, name = '', file = ''] = process.argv.slice(2);

/** The parent process decides when the DPU's side ends. */
const stop = new AbortController();
for (const event of ['SIGTERM', 'SIGINT', 'SIGHUP', 'disconnect'] as const) {
  process.once(event, () => {
    stop.abort(new Error(`stopped by ${event}`));
  });
}

/** Serves clients until it is stopped. A client gets the SHA-256 of each of its files. */
async function dpu(): Promise<void> {
  using service = serviceFor(name);
  const { endpoint } = service;
  process.send?.({ listening: name });
  stop.signal.addEventListener('abort', () => {
    endpoint.close();
  });
  endpoint.on('lost', (peer) => {
    (peer.userData as FileReceiver | undefined)?.[Symbol.dispose]();
  });
  for await (const { peer, data } of endpoint) {
    peer.userData ??= new FileReceiver();
    const arrived = (peer.userData as FileReceiver).receive(data);
    // The iteration reports clients that are gone.
    if (arrived.kind === 'file') endpoint.send(arrived.response, peer).catch(() => undefined);
  }
}

async function host(): Promise<void> {
  using client = await connectTo(name, stop.signal);
  const bar = new ProgressBar('host to DPU');
  const report = await sendFile(client.endpoint, file, {
    signal: stop.signal,
    onProgress: (bytes, total) => {
      bar.update(bytes, total);
    },
  });
  process.send?.({ report });
}

try {
  await (role === 'dpu' ? dpu() : host());
} catch (error) {
  process.exitCode = 1;
  const hint = error instanceof Failure ? error.hint : undefined;
  process.send?.({ error: error instanceof Error ? error.message : String(error), hint });
} finally {
  if (process.connected) process.disconnect();
}
