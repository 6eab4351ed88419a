import { setImmediate } from 'node:timers/promises';

/** A transfer polls. At this interval it lets the event loop run: signals, timers, the peer's disconnect. */
const INTERVAL_MS = 20;

let last = 0;

export async function yieldToEventLoop(signal: AbortSignal): Promise<void> {
  const now = performance.now();
  if (now - last < INTERVAL_MS) return;
  await setImmediate();
  last = performance.now();
  signal.throwIfAborted();
}
