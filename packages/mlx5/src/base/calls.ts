import { VerbsError } from '@verbs/core';
import { coreNative } from '@verbs/core/provider';
import { hints } from './hints.js';
import { native, type NativeLibrary } from '../native.js';

/** What a failed call was about, for its message. */
export interface About {
  library: NativeLibrary;
  syscall: string;
  detail?: string | undefined;
  /** Instead of the usual hint for that error code. */
  hint?: string | undefined;
}

function failure(errno: number, { library, syscall, detail, hint }: About): VerbsError {
  const release = native.missing(library, syscall);
  const code = coreNative.errnoName(Math.abs(errno)) ?? '';
  return new VerbsError(errno, syscall, {
    detail,
    hint: release === undefined ? (hint ?? hints[syscall]?.[code]) : missing(syscall, release),
  });
}

function missing(syscall: string, release: string): string {
  return `this libmlx5 has no ${syscall}: it came with ${release === '' ? 'a release after rdma-core 44' : `rdma-core ${release}`}`;
}

/** What a call has made. */
export function made<T extends object | string>(result: T | number, about: About): T {
  if (typeof result === 'number') throw failure(result, about);
  return result;
}

/** A call that gives 0 or a negated errno. */
export function done(result: number, about: About): void {
  if (result < 0) throw failure(result, about);
}

/** A call that gives a number or a negated errno. */
export function counted(result: number, about: About): number {
  done(result, about);
  return result;
}
