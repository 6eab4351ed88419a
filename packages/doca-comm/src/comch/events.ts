import { type ContextHandle, native } from '../base/native.js';

/** The kinds of events that a context queues: those of native/binding/comch/event_queue.h. */
export const EventKind = {
  NONE: 0,
  STATE: 1,
  CONNECTED: 2,
  DISCONNECTED: 3,
  MESSAGE: 4,
  SENT: 5,
  CONSUMER_NEW: 6,
  CONSUMER_GONE: 7,
  RECEIVED: 8,
  /** Added to a kind: the event stays, its bytes need more room. */
  TOO_LONG: 0x100,
} as const;

/** `enum doca_ctx_states`. */
export const ContextState = { IDLE: 0, STARTING: 1, RUNNING: 2, STOPPING: 3 } as const;

/** Of `native.comchSize()`. */
export const ComchSize = { MESSAGE: 0, RECV_QUEUE: 1, SEND_TASKS: 2 } as const;

/** Whether a context has stopped, or is gone. */
export function isIdle(context: ContextHandle): boolean {
  const state = native.contextState(context);
  return state < 0 || state === ContextState.IDLE;
}

/** A client's start has come to its end. */
export function isSettled(context: ContextHandle): boolean {
  return native.contextState(context) === ContextState.RUNNING || isIdle(context);
}
