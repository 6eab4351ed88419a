import { type WorkCompletion, WcStatus } from '@verbs/core';

/** A failure that the user can do something about: what is wrong, and what helps. */
export class Failure extends Error {
  readonly hint: string;

  constructor(message: string, hint: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'Failure';
    this.hint = hint;
  }
}

const REASONS: Record<string, string> = {
  ENOENT: 'there is no such file or directory',
  EACCES: 'permission is denied',
  EEXIST: 'it exists already',
  EISDIR: 'it is a directory',
  ENOSPC: 'no space is left on the device',
};

export function fileFailure(what: string, error: unknown): Failure {
  const { code, message } = error as NodeJS.ErrnoException;
  const reason = code === undefined ? message : `${REASONS[code] ?? message} (${code})`;
  const hint =
    code === 'ENOSPC' ? 'free some space, or name a place on another disk' : 'check the path and its permissions';
  return new Failure(`${what}: ${reason}`, hint, error);
}

/** What a completion that is no success means for the transfer. */
export function completionFailure(wc: WorkCompletion, peer: string): Failure {
  if (wc.status === WcStatus.RETRY_EXC_ERR) {
    return new Failure(
      `${peer} no longer answers (${wc.statusText}): all repetitions of a packet went without an acknowledgement`,
      'see whether its process still runs, then start both sides again',
    );
  }
  return new Failure(`a work request failed: ${wc.statusText}`, 'start both sides again');
}
