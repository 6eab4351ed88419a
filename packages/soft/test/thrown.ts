import { SoftError } from '../src/index.js';

/** The SoftError that `call` throws. */
export function thrown(call: () => unknown): SoftError {
  try {
    call();
  } catch (error) {
    if (error instanceof SoftError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}
