interface Waits {
  /** What they do when the signal is aborted, in their order. */
  readonly runs: Set<() => void>;
  readonly aborted: () => void;
}

const waits = new WeakMap<AbortSignal, Waits>();

/**
 * Calls `run` when the signal is aborted; the returned function takes that back. All waits of a signal share one listener:
 * Node.js warns of a leak where a signal has more than ten, and a program may await hundreds of requests with one.
 */
export function onAbort(signal: AbortSignal, run: () => void): () => void {
  const { runs, aborted } = waits.get(signal) ?? listen(signal);
  // Another wait may give the same function.
  const own = () => {
    run();
  };
  runs.add(own);
  return () => {
    runs.delete(own);
    if (runs.size !== 0 || waits.get(signal)?.runs !== runs) return;
    signal.removeEventListener('abort', aborted);
    waits.delete(signal);
  };
}

/** The result of `call`; rejects with the signal's reason as soon as it is aborted, while the call goes on unheard. */
export function unlessAborted<T>(call: T | Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  const called = Promise.resolve(call);
  if (signal === undefined) return called;
  return new Promise((resolve, reject) => {
    const aborted = () => {
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- an AbortSignal's reason may be anything
      reject(signal.reason);
    };
    if (signal.aborted) aborted();
    const forget = onAbort(signal, aborted);
    called.then(resolve, reject).finally(forget);
  });
}

function listen(signal: AbortSignal): Waits {
  const runs = new Set<() => void>();
  const aborted = () => {
    waits.delete(signal);
    // A wait that ends by another one's is no longer among them.
    for (const run of runs) run();
  };
  const made = { runs, aborted };
  waits.set(signal, made);
  signal.addEventListener('abort', aborted, { once: true });
  return made;
}
