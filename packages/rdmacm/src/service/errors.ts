import { enumName, VerbsError } from '@verbs/core';
import { errno, type VerbsErrorOptions } from '@verbs/core/provider';
import { CmEventType, RejectReason } from '../base/enums.js';
import type { CmEvent } from '../cm/cm-event.js';

/** What a failed connection is about. */
export interface ConnectionErrorOptions extends VerbsErrorOptions {
  /** The event that told of it. */
  event?: CmEvent;
}

/**
 * A connection that failed. `code` tells how:
 *
 * - `REJECTED`: nobody listens there, or the peer's program said no; see `reason` and `privateData`
 * - `UNREACHABLE`: the peer does not answer
 * - `ADDR_ERROR`, `ROUTE_ERROR`: no device leads to the address
 * - `TIMEDOUT`: the time of the option `timeout` is over
 * - `CONNECT_ERROR`: setting it up failed on one of the sides
 * - `DEVICE_REMOVAL`: the device is gone
 *
 * @example
 * try { await connect({ host: '192.0.2.1', port: 7471 }) } catch (error) {
 *   if (error instanceof ConnectionError && error.code === 'REJECTED') console.log(error.reason, error.privateData);
 * }
 */
export class ConnectionError extends VerbsError {
  /** Of REJECTED: the name of the {@link RejectReason}; CONSUMER_DEFINED is the peer's program. */
  declare readonly reason?: string;
  /** Of REJECTED: what the peer sent, filled with zeros up to the room of the message. */
  declare readonly privateData?: Uint8Array;
  /** The event's status: a negative errno, or the number of the reason. */
  declare readonly status?: number;

  /** @internal */
  constructor(number: number, syscall: string, { event, ...options }: ConnectionErrorOptions) {
    super(number, syscall, options);
    if (event === undefined) return;
    const set = (name: string, value: unknown) => {
      if (value !== undefined) Object.defineProperty(this, name, { value, enumerable: true });
    };
    set('status', event.status);
    if (event.name !== 'REJECTED') return;
    set('reason', enumName(RejectReason, event.status));
    set('privateData', (event.conn ?? event.ud)?.privateData);
  }
}

Object.defineProperty(ConnectionError.prototype, 'name', {
  value: 'ConnectionError',
  configurable: true,
  writable: true,
});

const TEXTS: Partial<Record<CmEvent['name'], string>> = {
  ADDR_ERROR: 'the address was not resolved',
  ROUTE_ERROR: 'the route was not resolved',
  CONNECT_ERROR: 'setting up the connection failed',
  UNREACHABLE: 'the peer does not answer',
  DEVICE_REMOVAL: 'the device is gone',
  DISCONNECTED: 'the peer disconnected',
};

/** The error of an event that another one was expected for. */
export function failureOf(event: CmEvent, syscall: string, detail: string, hint?: string): ConnectionError {
  const { name, status } = event;
  if (name === 'REJECTED') {
    const program = status === RejectReason.CONSUMER_DEFINED;
    const nobody = status === RejectReason.INVALID_SERVICE_ID;
    const why = enumName(RejectReason, status);
    return new ConnectionError(errno.ECONNREFUSED, syscall, {
      event,
      code: name,
      text: program ? "the peer's program rejected the request" : `the request was rejected (${why})`,
      detail,
      hint: nobody ? 'nobody listens at that address and port' : undefined,
    });
  }
  const number = status < 0 ? status : name in fallback ? fallback[name as keyof typeof fallback] : errno.ECONNABORTED;
  return new ConnectionError(number, syscall, {
    event,
    code: Object.hasOwn(TEXTS, name) ? name : enumName(CmEventType, event.event),
    text: TEXTS[name] ?? `an event ${name} came`,
    detail,
    hint,
  });
}

const fallback = { ADDR_ERROR: errno.EADDRNOTAVAIL, ROUTE_ERROR: errno.ENETUNREACH, UNREACHABLE: errno.EHOSTUNREACH };

/** The time is over. */
export function timedOut(milliseconds: number, syscall: string, detail: string): ConnectionError {
  return new ConnectionError(errno.ETIMEDOUT, syscall, {
    code: 'TIMEDOUT',
    text: `nothing came of it within ${milliseconds} ms`,
    detail,
  });
}
