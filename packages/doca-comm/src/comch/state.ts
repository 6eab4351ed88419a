import { type ContextHandle, native } from '../native.js';
import { ContextState } from './events.js';

export function isIdle(context: ContextHandle): boolean {
  const state = native.contextState(context);
  return state < 0 || state === ContextState.IDLE;
}

/** A client's start has come to its end. */
export function isSettled(context: ContextHandle): boolean {
  return native.contextState(context) === ContextState.RUNNING || isIdle(context);
}
