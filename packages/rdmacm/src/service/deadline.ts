import { onAbort, validate } from '@verbs/core/provider';
import { timedOut } from './errors.js';

/** How long a call may take. */
export interface DeadlineOptions {
  /** Ends the call: the promise rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Milliseconds; the promise rejects with the code TIMEDOUT. Default: as long as the C library tries. */
  timeout?: number;
}

/** The names of {@link DeadlineOptions}, in a table of options. */
export const deadlineFields = {
  signal: (value: unknown, path: string): AbortSignal | undefined => {
    if (value === undefined || value instanceof AbortSignal) return value;
    throw validate.typeError(path, 'an AbortSignal', value);
  },
  timeout: (value: unknown, path: string): number | undefined =>
    value === undefined ? undefined : validate.integer(value, path, 0, 0x7fffffff),
};

/** A signal for the time of a call, of the caller's signal and of the timeout. */
export class Deadline implements Disposable {
  readonly signal: AbortSignal;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #forget: (() => void) | undefined;

  constructor({ signal, timeout }: DeadlineOptions, syscall: string, detail: string) {
    const controller = new AbortController();
    signal?.throwIfAborted();
    this.#forget =
      signal &&
      onAbort(signal, () => {
        controller.abort(signal.reason);
      });
    this.signal = controller.signal;
    if (timeout === undefined) return;
    this.#timer = setTimeout(() => {
      controller.abort(timedOut(timeout, syscall, detail));
    }, timeout);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#forget?.();
  }
}
