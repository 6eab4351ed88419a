import { errno as errnos } from './errno.js';
import { hintFor } from './hints.js';
import { native } from './native.js';

const brand = Symbol.for('@verbs/core.VerbsError');

/** What a {@link VerbsError} says besides its errno. */
export interface VerbsErrorOptions {
  /** The remedy. */
  hint?: string | undefined;
  /** The object of the call, in the message behind the syscall's name. */
  detail?: string | undefined;
  /** Instead of the errno's own name. */
  code?: string;
  /** Instead of the errno's own text. */
  text?: string;
  /** The error behind it. */
  cause?: unknown;
}

/**
 * A failed call of the C library, or one that would have failed.
 *
 * The shape is that of Node's own system errors. Match on `code`. `instanceof` holds across copies of this package.
 *
 * @example
 * try { openDevice('mlx5_0') } catch (error) {
 *   if (error instanceof VerbsError && error.code === 'ENODEV') console.log(error.message);
 * }
 */
export class VerbsError extends Error {
  /** 'EINVAL', or 'ERR_VERBS_CLOSED' for the use of a closed object. */
  readonly code: string;
  /** Negative, as in Node's own errors. */
  readonly errno: number;
  /** The C function, 'ibv_create_ah'. */
  readonly syscall: string;
  /** Of postSend and postRecv: the number of requests that were posted before the failed one. */
  declare posted?: number;

  /** `errno` may have either sign. */
  constructor(errno: number, syscall: string, options: VerbsErrorOptions = {}) {
    const number = Math.abs(errno);
    const code = options.code ?? native.errnoName(number) ?? `errno ${number}`;
    const hint = options.hint ?? hintFor(syscall, code);
    const about = options.detail === undefined ? syscall : `${syscall} ${options.detail}`;
    super(
      `${code}: ${options.text ?? lowerFirst(native.errnoText(number))}, ${about}${hint === undefined ? '' : `: ${hint}`}`,
      {
        cause: options.cause,
      },
    );
    this.code = code;
    this.errno = -number;
    this.syscall = syscall;
    Object.defineProperty(this, brand, { value: true });
    // An error without a cause has no property of that name.
    if (options.cause === undefined) delete this.cause;
  }

  /** Holds across copies of the package, too. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    // For a subclass the prototype chain decides.
    if (!Object.hasOwn(this, Symbol.hasInstance)) return Function.prototype[Symbol.hasInstance].call(this, value);
    return typeof value === 'object' && value !== null && brand in value;
  }
}

// On the prototype and before the first error, so that stacks begin with it.
Object.defineProperty(VerbsError.prototype, 'name', { value: 'VerbsError', configurable: true, writable: true });

/** The result of a C call that gives 0 or a negated errno. */
export function check(result: number, syscall: string, options?: VerbsErrorOptions): void {
  if (result < 0) throw new VerbsError(result, syscall, options);
}

/** The result of a C call that gives an object or a negated errno. */
export function checked<T extends object | string>(
  result: T | number,
  syscall: string,
  options?: VerbsErrorOptions,
): T {
  if (typeof result === 'number') throw new VerbsError(result, syscall, options);
  return result;
}

/** The error of every method of a closed object: EBADF, ERR_VERBS_CLOSED. */
export function closedError(what: string, syscall: string): VerbsError {
  return new VerbsError(errnos.EBADF, syscall, {
    code: 'ERR_VERBS_CLOSED',
    text: `the ${what} is closed`,
    hint: 'keep it open while it is used, or create a new one',
  });
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
