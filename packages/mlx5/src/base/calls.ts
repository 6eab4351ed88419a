import { VerbsError } from '@verbs/core';
import { native, type NativeLibrary } from '../native/index.js';

/** The subject of a call, for the message of its error. */
export interface About {
  library: NativeLibrary;
  syscall: string;
  detail?: string | undefined;
  /** Instead of the known remedy for that error. */
  hint?: string | undefined;
}

function failure(errno: number, { library, syscall, detail, hint }: About): VerbsError {
  const release = native.missing(library, syscall);
  return new VerbsError(errno, syscall, { detail, hint: release === undefined ? hint : missing(syscall, release) });
}

function missing(syscall: string, release: string): string {
  return `this libmlx5 has no ${syscall}: it came with rdma-core ${release}`;
}

/** The result of a call that returns an object or a negated errno. */
export function made<T extends object | string>(result: T | number, about: About): T {
  if (typeof result === 'number') throw failure(result, about);
  return result;
}

/** The result of a call that returns 0 or a negated errno. */
export function done(result: number, about: About): void {
  if (result < 0) throw failure(result, about);
}

/** The result of a call that returns a number or a negated errno. */
export function counted(result: number, about: About): number {
  done(result, about);
  return result;
}
