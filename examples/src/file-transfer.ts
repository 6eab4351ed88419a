import { Failure } from '@verbs/lib/failure';
import { receiveProgram } from './transfer/receive-program.js';
import { sendProgram } from './transfer/send-program.js';
import { type Settings, USAGE, UsageError, readSettings } from './transfer/settings.js';

/** Sends a message to the parent process, if this one is its child. */
function notifyParent(message: Record<string, unknown>): void {
  process.send?.(message);
}

/** Aborted by a signal, or by the end of the parent process. */
function stopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(name, () => {
      controller.abort(new Error(`stopped by ${name}`));
    });
  }
  process.once('disconnect', () => {
    controller.abort(new Error('stopped, because the program that started it has ended'));
  });
  return controller.signal;
}

async function run(settings: Settings): Promise<void> {
  const signal = stopSignal();
  const listening = (port: number) => {
    notifyParent({ listening: port });
    if (!process.connected) process.stderr.write(`waiting for a sender on ${settings.host} port ${port}\n`);
  };
  const report =
    settings.role === 'send' ? await sendProgram(settings, signal) : await receiveProgram(settings, signal, listening);
  notifyParent({ report });
  if (settings.json) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  else if (!process.connected) process.stdout.write(`${report.bytes} bytes, SHA-256 ${report.sha256}\n`);
}

try {
  const settings = readSettings(process.argv.slice(2));
  if (settings === undefined) process.stdout.write(`${USAGE}\n`);
  else await run(settings);
} catch (error) {
  process.exitCode = error instanceof UsageError ? 2 : 1;
  const message = error instanceof Error ? error.message : String(error);
  const hint = error instanceof Failure ? error.hint : error instanceof UsageError ? 'file-transfer --help' : undefined;
  process.stderr.write(`file-transfer: ${message}\n${hint === undefined ? '' : `  ${hint}\n`}`);
  notifyParent({ error: message, hint });
} finally {
  if (process.connected) process.disconnect();
}
