import type { Measurement } from '../run/measurement.js';

/** At which of the three speeds of @verbs/core; awaited are the queue, or the requests. */
export type Way = 'await' | 'promise' | 'plain' | 'batch';

/** The task on the command line: PROGRAM WAY round-trip|stream SIZE COUNT [WINDOW LIST]. */
export interface Task {
  way: Way;
  what: 'round-trip' | 'stream';
  size: number;
  count: number;
  /** Messages of a stream that are on their way at a time. */
  window: number;
  /** Messages of a stream that go to one post call; divides the window. */
  list: number;
}

export function readTask([way, what, ...numbers]: readonly string[]): Task {
  const [size = 64, count = 1000, window = 64, list = 32] = numbers.map(Number);
  if (way !== 'await' && way !== 'promise' && way !== 'plain' && way !== 'batch')
    throw new Error(`the way is ${String(way)}: await, promise, plain or batch`);
  if (way === 'promise' && what !== 'stream')
    throw new Error('promises are for a stream; of round trips see awaited.mjs');
  if (what !== 'round-trip' && what !== 'stream') throw new Error(`${String(what)}: round-trip or stream`);
  for (const number of [size, count, window, list]) {
    if (!Number.isSafeInteger(number) || number < 1) throw new Error(`${number} is no size or count`);
  }
  if (window % list !== 0) throw new Error(`the window ${window} is no multiple of the list ${list}`);
  return { way, what, size, count, window, list };
}

/** A multiple of the window. */
export function wholeWindows({ count, window }: Task): number {
  return Math.ceil(count / window) * window;
}

export function messageRate(count: number, milliseconds: number): Measurement {
  return { unit: 'messages/s', messages: Math.round((count / milliseconds) * 1000) };
}
