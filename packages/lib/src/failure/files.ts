import { Failure, codeOf, messageOf } from './failure.js';

const REASONS: Record<string, string> = {
  ENOENT: 'no such file or directory',
  EACCES: 'permission denied',
  EEXIST: 'it exists already',
  EISDIR: 'it is a directory',
  ENOTDIR: 'a part of the path is not a directory',
  ENOSPC: 'no space left on the device',
  EROFS: 'the file system is read-only',
};

/** The reason of a file's error in words, followed by the system's code. */
export function fileReason(error: unknown): string {
  const code = codeOf(error);
  const reason = code === undefined ? undefined : REASONS[code];
  return reason === undefined ? messageOf(error) : `${reason} (${code ?? ''})`;
}

/** The failure for an error of a file; `what` names the action that failed. */
export function fileFailure(what: string, error: unknown): Failure {
  const full = codeOf(error) === 'ENOSPC';
  const hint = full ? 'free some space, or name a place on another disk' : 'check the path and its permissions';
  return new Failure(`${what}: ${fileReason(error)}`, { hint, cause: error });
}
