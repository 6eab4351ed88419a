import { object, typeError } from './validate.js';

/** The options of the waiting calls. */
export interface WaitOptions {
  /** Ends the waiting: the promise rejects with the signal's reason. */
  signal?: AbortSignal;
}

const NAMES = ['signal'];

/** The check of an AbortSignal. */
export const abortSignal = (value: unknown, path: string): AbortSignal => {
  if (value instanceof AbortSignal) return value;
  throw typeError(path, 'an AbortSignal', value);
};

/**
 * The signal of a waiting call's options.
 *
 * @throws TypeError also for a name that it does not know: a misspelt signal would never end the waiting
 */
export function signalOf(options: WaitOptions | undefined): AbortSignal | undefined {
  if (options === undefined) return undefined;
  const { signal } = object(options, 'options', NAMES);
  return signal === undefined ? undefined : abortSignal(signal, 'options.signal');
}
