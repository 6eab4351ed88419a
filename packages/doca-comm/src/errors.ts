const brand = Symbol.for('@verbs/doca-comm.DocaError');

/** The results of DOCA's functions, by their documented numbers. */
export const DocaStatus = {
  SUCCESS: 0,
  UNKNOWN: 1,
  NOT_PERMITTED: 2,
  IN_USE: 3,
  NOT_SUPPORTED: 4,
  AGAIN: 5,
  INVALID_VALUE: 6,
  NO_MEMORY: 7,
  INITIALIZATION: 8,
  TIME_OUT: 9,
  SHUTDOWN: 10,
  CONNECTION_RESET: 11,
  CONNECTION_ABORTED: 12,
  CONNECTION_INPROGRESS: 13,
  NOT_CONNECTED: 14,
  NO_LOCK: 15,
  NOT_FOUND: 16,
  IO_FAILED: 17,
  BAD_STATE: 18,
  UNSUPPORTED_VERSION: 19,
  OPERATING_SYSTEM: 20,
  DRIVER: 21,
  UNEXPECTED: 22,
  ALREADY_EXIST: 23,
  FULL: 24,
  EMPTY: 25,
  IN_PROGRESS: 26,
  TOO_BIG: 27,
  AUTHENTICATION: 28,
  BAD_CONFIG: 29,
  SKIPPED: 30,
  DEVICE_FATAL_ERROR: 31,
} as const;

const names = new Map<number, string>(Object.entries(DocaStatus).map(([name, status]) => [status, name]));

/** 'DOCA_ERROR_AGAIN' for 5; a number that is not known is named as such. */
export function statusName(status: number): string {
  const name = names.get(status);
  if (name === undefined) return `DOCA_ERROR_${status}`;
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
  [DocaStatus.BAD_STATE]: 'the endpoint is active already, or lacks what this call needs',
  [DocaStatus.CONNECTION_RESET]: 'the peer is gone; disconnect it',
  [DocaStatus.NOT_CONNECTED]: 'there is no connection to this peer; connect, and wait until it is established',
  [DocaStatus.IN_USE]: 'close what uses it first',
};
