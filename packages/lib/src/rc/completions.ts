import type { CompletionQueue, WorkCompletion } from '@verbs/core';

/** Empty polls before the wait: some microseconds, less than a wake-up costs. */
const SPINS = 200;
/** Milliseconds after which signals, timers and others have their turn, however fast the completions come. */
const LONGEST_TURN = 10;

let turn = performance.now();

/**
 * The next completions. Polls for a moment, because the next one is usually near; then waits on the completion channel.
 * Rejects with the signal's reason when it is aborted.
 */
export async function completions(cq: CompletionQueue, max: number, signal: AbortSignal): Promise<WorkCompletion[]> {
  for (;;) {
    if (performance.now() - turn > LONGEST_TURN) {
      await new Promise(setImmediate);
      turn = performance.now();
      signal.throwIfAborted();
    }
    for (let spin = 0; spin < SPINS; spin++) {
      const list = cq.poll(max);
      if (list.length > 0) return list;
    }
    signal.throwIfAborted();
    await cq.wait({ signal });
    turn = performance.now();
  }
}
