import { VerbsError } from './errors.js';

/** A request that failed because another one had failed, or because its queue pair was reset or closed. */
const FOLLOWING = new Set(['WC_WR_FLUSH_ERR', 'ERR_VERBS_CLOSED', 'ECANCELED']);

/**
 * Marks a promise as handled: it may reject before the program awaits it, or without being awaited at all, and the process
 * goes on. For promises that are made before the call that fails, as those of a receive request.
 */
export function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

/** Whether the failure is the consequence of one that the program learns of otherwise: of its own abort, too. */
export function follows(error: unknown, signal?: AbortSignal): boolean {
  if (error instanceof VerbsError) return FOLLOWING.has(error.code);
  return signal?.aborted === true && error === signal.reason;
}

/** The same promise, which is marked as handled if it fails as the consequence of another failure. */
export function excused<T>(promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  const same = new Promise<T>((resolve, reject) => {
    promise.then(resolve, (error: unknown) => {
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the reason of a signal may be anything
      reject(error);
      if (follows(error, signal)) void handled(same);
    });
  });
  return same;
}

/** An error of the program's listener is none of the object that calls it: it is an uncaught exception, and the object goes on. */
export function uncaught(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
