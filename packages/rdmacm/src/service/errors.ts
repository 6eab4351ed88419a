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
  /** Of REJECTED: the name of the {@link RejectReason}, also of a lookup's; CONSUMER_DEFINED is the peer's program. */
  declare readonly reason?: string;
  /** Of REJECTED: what the peer sent, filled with zeros up to the room of the message. */
  declare readonly privateData?: Uint8Array;
  /** The event's status: a negative errno, or the number of the reason; of a lookup the status of its answer, IBTA's SIDR_REP. */
  declare readonly status?: number;

  /** @internal */
  constructor(number: number, syscall: string, { event, ...options }: ConnectionErrorOptions) {
    super(number, syscall, options);
    if (event === undefined) return;
    const set = (name: string, value: unknown) => {
      if (value !== undefined) Object.defineProperty(this, name, { value, enumerable: true });
    };
    set('status', event.status);
    const reason = rejection(event);
    if (reason === undefined) return;
    set('reason', reason);
    set('privateData', (event.conn ?? event.ud)?.privateData);
  }
}

Object.defineProperty(ConnectionError.prototype, 'name', {
  value: 'ConnectionError',
  configurable: true,
  writable: true,
});

/** What the statuses of SIDR_REP are called for connections. */
const LOOKUP_REASONS: Partial<Record<number, RejectReason>> = {
  1: RejectReason.INVALID_SERVICE_ID,
  2: RejectReason.CONSUMER_DEFINED,
  3: RejectReason.NO_QP,
};

/** Why the peer rejected the request, if it did. The kernel calls the peer of a rejected lookup unreachable, although it answered. */
function rejection({ name, status, ud }: CmEvent): string | undefined {
  if (name === 'REJECTED') return enumName(RejectReason, status);
  if (name !== 'UNREACHABLE' || status <= 0 || ud === undefined) return undefined;
  const reason = LOOKUP_REASONS[status];
  return reason === undefined ? `SIDR_REP ${status}` : enumName(RejectReason, reason);
}

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
  const reason = rejection(event);
  if (reason !== undefined) {
    const program = reason === 'CONSUMER_DEFINED';
    const nobody = reason === 'INVALID_SERVICE_ID';
    return new ConnectionError(errno.ECONNREFUSED, syscall, {
      event,
      code: 'REJECTED',
      text: program ? "the peer's program rejected the request" : `the request was rejected (${reason})`,
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
