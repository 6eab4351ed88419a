import { onAbort } from '@verbs/core/provider';

/** What waits: a promise for a message or for room in a queue, or several for the same. */
export interface Waiting {
  /** Makes the attempt, and returns whether it settled all of it. */
  attempt: () => boolean;
  fail: (reason: unknown) => void;
}

/** The functions that settle a promise, and the signal that ends the waiting for it. */
export interface Settler<T> {
  resolve: (value: T) => void;
  reject: (reason: unknown) => void;
  signal?: AbortSignal | undefined;
}

/**
 * Settles a promise once: by the first attempt with a result, by an exception, or by the signal. `left` is called before
 * that.
 */
export function waitingFor<T>(attempt: () => T | undefined, settler: Settler<T>, left: () => void): Waiting {
  const { signal } = settler;
  const settle = () => {
    forget?.();
    left();
  };
  const waiting: Waiting = {
    attempt: () => {
      try {
        const result = attempt();
        if (result === undefined) return false;
        settle();
        settler.resolve(result);
      } catch (error) {
        waiting.fail(error);
      }
      return true;
    },
    fail: (reason) => {
      settle();
      settler.reject(reason);
    },
  };
  const forget =
    signal &&
    onAbort(signal, () => {
      waiting.fail(signal.reason);
    });
  return waiting;
}
