/** A promise that is not settled yet. */
export interface Waiting {
  /** Settles it if the time has come; whether it did. */
  attempt: () => boolean;
  fail: (reason: unknown) => void;
}

/** Both ends of a promise, and what ends the waiting for it. */
export interface Settler<T> {
  resolve: (value: T) => void;
  reject: (reason: unknown) => void;
  signal?: AbortSignal | undefined;
}

/**
 * Settles a promise once: by the first attempt that gives something, an exception of one, or the signal. `left` is
 * called before.
 */
export function waitingFor<T>(attempt: () => T | undefined, settler: Settler<T>, left: () => void): Waiting {
  const { signal } = settler;
  const settle = () => {
    signal?.removeEventListener('abort', aborted);
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
  const aborted = () => {
    waiting.fail(signal?.reason);
  };
  signal?.addEventListener('abort', aborted, { once: true });
  return waiting;
}
