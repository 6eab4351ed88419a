const brand = Symbol.for('@verbs/doca-comm.DocaError');

/** The results of DOCA's functions, by their documented numbers. */
export const DocaStatus = {
  /** `DOCA_SUCCESS`: done. */
  SUCCESS: 0,
  /** `DOCA_ERROR_UNKNOWN`: an error without a name of its own. */
  UNKNOWN: 1,
  /** `DOCA_ERROR_NOT_PERMITTED`: the state does not allow it: the endpoint listens or is connected already. */
  NOT_PERMITTED: 2,
  /** `DOCA_ERROR_IN_USE`: something still uses it: close that first. */
  IN_USE: 3,
  /** `DOCA_ERROR_NOT_SUPPORTED`: not on this side: a service runs on the DPU, a client on the host. */
  NOT_SUPPORTED: 4,
  /** `DOCA_ERROR_AGAIN`: no message is there, or the queue is full; `receive()` and `send()` wait. */
  AGAIN: 5,
  /** `DOCA_ERROR_INVALID_VALUE`: an argument is wrong, for instance a message longer than `maxMsgSize`. */
  INVALID_VALUE: 6,
  /** `DOCA_ERROR_NO_MEMORY`: memory is short. */
  NO_MEMORY: 7,
  /** `DOCA_ERROR_INITIALIZATION`: an object could not be set up. */
  INITIALIZATION: 8,
  /** `DOCA_ERROR_TIME_OUT`: it took too long. */
  TIME_OUT: 9,
  /** `DOCA_ERROR_SHUTDOWN`: the object is being shut down. */
  SHUTDOWN: 10,
  /** `DOCA_ERROR_CONNECTION_RESET`: the peer is gone: disconnect it. */
  CONNECTION_RESET: 11,
  /**
   * `DOCA_ERROR_CONNECTION_ABORTED`: the connection was rejected or failed: no such service, or its name cannot be
   * registered.
   */
  CONNECTION_ABORTED: 12,
  /** `DOCA_ERROR_CONNECTION_INPROGRESS`: the handshake goes on; the service accepts the client when it next receives. */
  CONNECTION_INPROGRESS: 13,
  /** `DOCA_ERROR_NOT_CONNECTED`: there is no connection to this peer. */
  NOT_CONNECTED: 14,
  /** `DOCA_ERROR_NO_LOCK`: a lock could not be taken. */
  NO_LOCK: 15,
  /** `DOCA_ERROR_NOT_FOUND`: there is no such device, representor or library. */
  NOT_FOUND: 16,
  /** `DOCA_ERROR_IO_FAILED`: reading or writing failed. */
  IO_FAILED: 17,
  /** `DOCA_ERROR_BAD_STATE`: not in this state: the endpoint is active, or lacks its device. */
  BAD_STATE: 18,
  /** `DOCA_ERROR_UNSUPPORTED_VERSION`: the version does not fit. */
  UNSUPPORTED_VERSION: 19,
  /** `DOCA_ERROR_OPERATING_SYSTEM`: a call of the operating system failed. */
  OPERATING_SYSTEM: 20,
  /** `DOCA_ERROR_DRIVER`: the driver failed, or there is no library. */
  DRIVER: 21,
  /** `DOCA_ERROR_UNEXPECTED`: an internal error. */
  UNEXPECTED: 22,
  /** `DOCA_ERROR_ALREADY_EXIST`: such an object exists already. */
  ALREADY_EXIST: 23,
  /** `DOCA_ERROR_FULL`: there is no room. */
  FULL: 24,
  /** `DOCA_ERROR_EMPTY`: it is empty. */
  EMPTY: 25,
  /** `DOCA_ERROR_IN_PROGRESS`: it has begun and has not ended. */
  IN_PROGRESS: 26,
  /** `DOCA_ERROR_TOO_BIG`: it is too large. */
  TOO_BIG: 27,
  /** `DOCA_ERROR_AUTHENTICATION`: the authentication failed. */
  AUTHENTICATION: 28,
  /** `DOCA_ERROR_BAD_CONFIG`: the configuration is wrong. */
  BAD_CONFIG: 29,
  /** `DOCA_ERROR_SKIPPED`: it was skipped. */
  SKIPPED: 30,
  /** `DOCA_ERROR_DEVICE_FATAL_ERROR`: the device failed. */
  DEVICE_FATAL_ERROR: 31,
} as const;

const names = new Map<number, string>(Object.entries(DocaStatus).map(([name, status]) => [status, name]));

/** 'DOCA_ERROR_AGAIN' for 5; 'DOCA_ERROR_99' for a number without a name. */
export function statusName(status: number): string {
  const name = names.get(status);
  if (name === undefined) return `DOCA_ERROR_${String(status)}`;
  return status === 0 ? 'DOCA_SUCCESS' : `DOCA_ERROR_${name}`;
}

/**
 * A failed call of a DOCA function, or one that would have failed.
 *
 * Match on `code`. `instanceof` holds across copies of this package.
 *
 * @example
 * try { endpoint.connect('echo') } catch (error) {
 *   if (error instanceof DocaError && error.code === 'DOCA_ERROR_CONNECTION_ABORTED') console.log(error.message);
 * }
 */
export class DocaError extends Error {
  /** The DOCA name, 'DOCA_ERROR_AGAIN'. */
  readonly code: string;
  /** Its number. */
  readonly status: number;
  /** The C function, 'doca_comm_channel_ep_connect'. */
  readonly syscall: string;

  constructor(status: number, syscall: string, hint?: string) {
    const code = statusName(status);
    super(`${code}, ${syscall}${hint === undefined ? '' : `: ${hint}`}`);
    this.code = code;
    this.status = status;
    this.syscall = syscall;
    Object.defineProperty(this, brand, { value: true });
  }

  /** Holds across copies of the package, too. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (!Object.hasOwn(this, Symbol.hasInstance)) return Function.prototype[Symbol.hasInstance].call(this, value);
    return typeof value === 'object' && value !== null && brand in value;
  }
}

Object.defineProperty(DocaError.prototype, 'name', { value: 'DocaError', configurable: true, writable: true });

/** A result of the addon: a negative number is a DOCA error. */
export function checked<T>(result: T | number, syscall: string, hint?: string): T {
  if (typeof result === 'number' && result < 0) {
    throw new DocaError(-result, syscall, hint ?? generalHints[-result]);
  }
  return result as T;
}

const generalHints: Record<number, string> = {
  [DocaStatus.INVALID_VALUE]: 'an argument is wrong, or one of its objects is closed',
  [DocaStatus.BAD_STATE]: 'the endpoint is active already, or lacks what this call needs',
  [DocaStatus.CONNECTION_RESET]: 'the peer is gone; disconnect it',
  [DocaStatus.NOT_CONNECTED]: 'there is no connection to this peer; connect, and wait until it is established',
  [DocaStatus.IN_USE]: 'close what uses it first',
};
