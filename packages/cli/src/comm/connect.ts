import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { DocaError, type Endpoint } from '@verbs/doca-comm';
import { inputLines } from './input.js';
import type { Traffic } from './traffic.js';

export interface TalkOptions {
  /** After the end of the input, continue until no message has come for this time. */
  waitMs: number;
  /** Ends the exchange without an error. */
  signal: AbortSignal;
  /** What there was, also if it fails. */
  traffic: Traffic;
}

/** Lines sent before received messages are polled: one piece of input may hold thousands. */
const LINES_PER_TURN = 32;

/** Sends the lines of standard input to the service, reports each message from it, and counts both. */
export async function talk(
  endpoint: Endpoint,
  { waitMs, signal, traffic }: TalkOptions,
  onLine: (message: Uint8Array) => void,
): Promise<void> {
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
  const refuse = (failure: Error): never => {
    throw failure;
  };
  try {
    for await (const line of inputLines(either, endpoint.maxMsgSize, refuse)) {
      await endpoint.send(line, undefined, { signal: either });
      traffic.sentMessages += 1;
      traffic.sentBytes += line.length;
      if (traffic.sentMessages % LINES_PER_TURN === 0) await nextTurn();
    }
    await endpoint.drained(undefined, { signal: either });
    heard = performance.now();
    for (let left; (left = waitMs - (performance.now() - heard)) > 0;) await sleep(left, undefined, { signal: either });
  } catch (error) {
    if (!either.aborted) throw error;
  }
  over.abort();
  await hearing.catch((error: unknown) => {
    // Only an error of the connection is a failure; other errors end the wait.
    if (error instanceof DocaError && !signal.aborted) throw error;
  });
}
