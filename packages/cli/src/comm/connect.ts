import { setImmediate as nextTurn } from 'node:timers/promises';
import { DocaError, type Endpoint } from '@verbs/doca-comm';
import { inputLines } from './input.js';
import { type Traffic, noTraffic } from './traffic.js';

export interface TalkOptions {
  /** After the end of the input, continue until no message has come for this time. */
  waitMs: number;
  /** Ends the exchange without an error. */
  signal: AbortSignal;
}

/** Lines sent before received messages are polled: one piece of input may hold thousands. */
const LINES_PER_TURN = 32;

/** Sends the lines of standard input to the service, and reports each message from it. */
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
  // The end of the service ends the wait for input too.
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
    // Only an error of the connection is a failure; other errors end the wait.
    if (error instanceof DocaError && !signal.aborted) throw error;
  });
  return traffic;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
