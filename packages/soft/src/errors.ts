import { getSystemErrorName } from 'node:util';
import { native } from './native.js';

const brand = Symbol.for('@verbs/soft.SoftError');

/**
 * A failed call of the software NIC's control interface. The message has the cause and the remedy.
 *
 * `code` ('EINVAL'), `errno` (negative) and `syscall` ('verbs_soft_configure') are as in Node's own system errors.
 * `instanceof` works across copies of this package.
 */
export class SoftError extends Error {
  /** 'SoftError' */
  override readonly name = 'SoftError';
  /** The name of the errno: 'EINVAL'. */
  readonly code: string;
  /** Negative, as in Node's own errors: -22. */
  readonly errno: number;
  /** The C function: 'verbs_soft_configure'. */
  readonly syscall: string;

  constructor(errno: number, syscall: string, text: string) {
    const code = getSystemErrorName(-errno);
    super(`${code}: ${text}, ${syscall}`);
    this.code = code;
    this.errno = -errno;
    this.syscall = syscall;
    Object.defineProperty(this, brand, { value: true });
  }

  /** True for instances from other copies of this package, too. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && brand in value;
  }
}

/** Throws the NIC's last error unless `errno` is 0. */
export function check(errno: number, syscall: string): void {
  if (errno !== 0) throw new SoftError(errno, syscall, native().lastError());
}
