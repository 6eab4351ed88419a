import { setImmediate } from 'node:timers/promises';

/** The transfer polls; this often the rest of Node gets a turn: signals, timers, and the news of the peer's end. */
const INTERVAL_MS = 20;

let last = 0;

export async function yieldToEventLoop(signal: AbortSignal): Promise<void> {
  const now = performance.now();
  if (now - last < INTERVAL_MS) return;
  await setImmediate();
  last = performance.now();
  signal.throwIfAborted();
}
