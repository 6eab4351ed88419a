import { setImmediate as nextTurn } from 'node:timers/promises';
import { DocaError, type Endpoint } from '@verbs/doca-comm';
import { inputLines } from './input.js';
import { type Traffic, noTraffic } from './traffic.js';

export interface TalkOptions {
  /** After the end of the input, go on until nothing has come for so long. */
  waitMs: number;
  /** Ends the talk, not with an error. */
  signal: AbortSignal;
}

/** So many lines are sent before what came meanwhile is taken: there may be thousands in one piece of input. */
const LINES_PER_TURN = 32;

/** Sends the lines of standard input to the service, and tells of each message that comes from it. */
export async function talk(
  endpoint: Endpoint,
  { waitMs, signal }: TalkOptions,
  onLine: (message: Uint8Array) => void,
): Promise<Traffic> {
  const traffic = noTraffic();
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  let heard: number;
  const hearing = (async () => {
    for (;;) {
      const { data } = await endpoint.receive({ signal: either });
      heard = performance.now();
      traffic.receivedMessages += 1;
      traffic.receivedBytes += data.length;
      onLine(data);
    }
  })();
  // A service that is gone ends the waiting for input as well.
  hearing.catch(() => {
    over.abort();
  });
  try {
    for await (const line of inputLines(either, endpoint.maxMsgSize)) {
      await endpoint.send(line, undefined, { signal: either });
      traffic.sentMessages += 1;
      traffic.sentBytes += line.length;
      if (traffic.sentMessages % LINES_PER_TURN === 0) await nextTurn();
    }
    await endpoint.drained(undefined, { signal: either });
    heard = performance.now();
    while (!either.aborted && performance.now() - heard < waitMs) await pause(waitMs - (performance.now() - heard));
  } catch (error) {
    if (!either.aborted) throw error;
  }
  over.abort();
  await hearing.catch((error: unknown) => {
    // Only what the connection itself says is a failure; the rest is the end of the waiting.
    if (error instanceof DocaError && !signal.aborted) throw error;
  });
  return traffic;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
